import Foundation

/// `docs/reference/conformance.md`: the cases of other suites, counted in the sources of the tests.
enum ConformanceReference {
    struct Case {
        var suite: String
        var name: String
        /// Nil if the outcome is the same.
        var difference: String?
        /// The tests that have it.
        var tests: String
    }

    /// What the first word of a case's name stands for.
    private static let suites = [
        ("AFSecurityPolicy", "AFNetworking's tests of AFSecurityPolicy"),
        ("AFURLRequestSerialization", "AFNetworking's tests of request serializers"),
        ("AFURLResponseSerialization", "AFNetworking's tests of response serializers"),
        ("curl", "curl's `tests/data`"), ("wget", "wget's `testenv`"), ("wget2", "wget2's `tests`"),
        ("http-state", "the cookie tests of the IETF's http-state group"), ("rfc6265", "RFC 6265 by section"),
        ("structured-fields", "the structured-field-tests of the IETF's HTTP group"),
        ("rfc9651", "RFC 9651 by section"),
        ("psl", "the kinds of rules of publicsuffix.org's `test_psl.txt`"), ("tus", "tus 1.0.0 by section"),
    ]

    private static let introduction = """
        Cases of the test suites of other programs and of standards that apply to xfer, carried over in
        our own words and values under their number or name there. Each shows that the same rule
        decides. Suites without numbers, and standards, are named by section or by the rule. Other cases
        of these suites are about what xfer does not have (FTP, options of a command line, lists of
        structured fields), are disabled there, or are in other tests.


        """

    private static let differencesIntroduction = """

        ## Differences

        These are deliberate. The tests show what xfer does in place of it.


        """

    static func text() throws -> String {
        let cases = try allCases()
        return title("Conformance") + introduction + counts(of: cases).text + differencesIntroduction
            + differences(of: cases).text
    }

    private static func counts(of cases: [Case]) -> MarkdownTable {
        var table = MarkdownTable("suite", "what it is", "tests", "cases", "same", "different")
        for (suite, meaning) in suites {
            let own = cases.filter { $0.suite == suite }
            for tests in Set(own.map(\.tests)).sorted() {
                let here = own.filter { $0.tests == tests }
                let same = here.count { $0.difference == nil }
                table.rows.append([
                    code(suite), meaning, code(tests), "\(here.count)", "\(same)", "\(here.count - same)",
                ])
            }
        }
        let same = cases.count { $0.difference == nil }
        table.rows.append(["all", "", "", "\(cases.count)", "\(same)", "\(cases.count - same)"])
        return table
    }

    private static func differences(of cases: [Case]) -> MarkdownTable {
        var table = MarkdownTable("case", "here it differs, because")
        for suite in suites.map(\.0) {
            for one in cases where one.suite == suite {
                if let difference = one.difference { table.rows.append([code("\(suite) \(one.name)"), difference]) }
            }
        }
        return table
    }

    /// The cases in the order of files and lines.
    ///
    /// - Throws: if a case is there twice, or is of no known suite.
    static func allCases() throws -> [Case] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let names = try FileManager.default.subpathsOfDirectory(atPath: tests.path)
        var cases: [Case] = []
        for name in names.filter({ $0.hasSuffix("ConformanceTests.swift") }).sorted() {
            let text = try String(contentsOf: tests.appending(path: name), encoding: .utf8)
            let file = String(name.split(separator: "/").last?.dropLast(6) ?? "")
            for match in text.matches(of: /\.(same|differs)\(\s*"([^" ]+) ([^"]+)"(?:,\s*because:\s*"([^"]+)")?/) {
                cases.append(
                    Case(
                        suite: String(match.2), name: String(match.3), difference: match.4.map { String($0) },
                        tests: file))
                guard (match.1 == "differs") == (match.4 != nil) else { throw Unclear(name: "\(match.2) \(match.3)") }
            }
        }
        var seen: Set<String> = []
        for one in cases {
            guard suites.contains(where: { $0.0 == one.suite }), seen.insert("\(one.suite) \(one.name)").inserted else {
                throw Unclear(name: "\(one.suite) \(one.name)")
            }
        }
        return cases
    }

    struct Unclear: Error {
        let name: String
    }
}
