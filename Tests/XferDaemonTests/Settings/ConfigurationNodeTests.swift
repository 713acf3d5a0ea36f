import Testing
import XferManager

@testable import XferDaemon

@Suite struct ConfigurationNodeTests {
    @Test(
        arguments: [
            ("queue: {max_active: 6", "/c.yaml:2:1: not YAML: "),
            ("queue:\n\tmax_active: 6", "/c.yaml:2:1: not YAML: a tab, expected spaces"),
            ("queue:\n  order: @x", "/c.yaml:2:10: not YAML: a value that begins with @ needs quotes"),
            ("a: 1\n---\nb: 2", "/c.yaml:2:1: not YAML: but found another document"),
            ("queue: *nobody", "/c.yaml:1:8: not YAML: found undefined alias"),
            ("queue: {}\nqueue: {}", ": written twice: \"queue\""),
            ("queue: \u{1}", "not YAML: control characters are not allowed"),
        ] as [(String, String)])
    func brokenYAMLIsRefusedWithItsPlace(yaml: String, part: String) throws {
        let found = try problems(of: yaml + "\n")
        #expect(found.count == 1)
        #expect(found.first?.contains(part) == true, "\(found)")
    }

    @Test func deeplyNestedYAMLIsRefusedInFlowAndBlockStyle() throws {
        for depth in [30, 900] {
            let flow = try problems(of: String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
            #expect(flow == ["/c.yaml:1:18: nested deeper than 16"])
            let block = try problems(of: String(repeating: "- ", count: depth) + "x")
            #expect(block == ["/c.yaml:1:35: nested deeper than 16"])
            let mappings = (0..<depth).map { String(repeating: " ", count: $0) + "k:" }.joined(separator: "\n")
            #expect(try problems(of: mappings).first?.hasSuffix("nested deeper than 16") == true)
        }
        for opening in ["[", "{", "- "] {
            let found = try problems(of: String(repeating: opening, count: 100_000))
            #expect(found.first?.contains("Maximum nesting level reached") == true, "\(found)")
        }
    }

    @Test func aliasesAreCountedExpanded() throws {
        var yaml = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            yaml += "b\(level): &a\(level) [" + (0..<10).map { _ in "*a\(level - 1)" }.joined(separator: ", ") + "]\n"
        }
        let found = try problems(of: yaml)
        #expect(found.count == 1)
        #expect(found.first?.contains("more than 20000 values") == true, "\(found)")
    }

    @Test func aFileThatIsTooLongIsNotParsed() throws {
        let found = try problems(of: "#" + String(repeating: "x", count: 1 << 20))
        #expect(found == ["/c.yaml: longer than 1048576 bytes"])
    }

    @Test func aliasesAndQuotesAreResolvedAsInYAML() throws {
        let settings = try load("queue: { max_active: &n 3, max_active_per_host: *n }\ndownload: { reserve: \"1Ki\" }")
        #expect(settings.settings.service.maxActivePerHost == 3)
        #expect(settings.settings.service.reserve == 1024)
    }

    @Test func onlyNearNamesAreSuggested() {
        #expect(Suggestion.nearest(to: "ordre", among: ["order", "max_active"]) == "order")
        #expect(Suggestion.nearest(to: "MAX_ACTIVE", among: ["order", "max_active"]) == "max_active")
        #expect(Suggestion.nearest(to: "colour", among: ["order", "max_active"]) == nil)
        #expect(Suggestion.nearest(to: "x", among: []) == nil)
    }
}
