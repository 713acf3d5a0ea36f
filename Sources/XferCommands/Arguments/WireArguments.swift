import ArgumentParser
import StrictJSON
import XferAria2
import XferModel
import XferProtocol

/// An argument whose refusal lists the accepted values.
protocol ExplainedArgument {
    /// The accepted values, for a sentence that begins with "expected".
    static var expected: String { get }

    /// Parses an argument. Returns nil if the text is something else.
    init?(argument: String)
}

extension ExplainedArgument {
    static func argument(_ text: String) throws -> Self {
        guard let value = Self(argument: text) else { throw ValidationError("expected \(expected)") }
        return value
    }
}

extension FixedWidthInteger {
    /// Reads a count, a number of an event or a uid.
    static func integer(_ text: String) throws -> Self {
        guard let value = Self(text, radix: 10) else {
            throw ValidationError("expected an integer from \(isSigned ? 0 : min) to \(max)")
        }
        return value
    }
}

extension Int64 {
    /// Reads the number of an event. `--since` of other verbs takes a time.
    static func eventNumber(_ text: String) throws -> Int64 {
        guard let value = Int64(text, radix: 10) else {
            throw ValidationError("expected the number of an event; `xferctl list --since` takes a time")
        }
        return value
    }
}

extension WireValue {
    /// Parses an argument with the wire's own rules, so that both refuse the same values with the same text.
    static func argument(_ text: String) throws -> Self {
        do throws(WireError) {
            return try Self(strict: .string(text))
        } catch {
            throw ValidationError("expected \(error.expected)")
        }
    }
}

extension Checksum {
    /// Reads `--checksum`.
    static func option(_ text: String) throws -> Checksum {
        do throws(ChecksumSyntaxError) {
            return try Checksum(parsing: text)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}

extension JSONValue {
    /// Reads an argument that is JSON text.
    static func argument(_ text: String) throws -> JSONValue {
        do throws(JSONSyntaxError) {
            return try JSONValue(parsing: Array(text.utf8))
        } catch {
            throw ValidationError("not JSON: \(error)")
        }
    }
}

/// A name of one of the wire's enumerations as an argument: usage errors, help and completions list them all.
struct EnumArgument<Word: WireEnum>: ExpressibleByArgument {
    let word: Word

    init(_ word: Word) { self.word = word }

    init?(argument: String) {
        guard let word = Word(wireName: argument) else { return nil }
        self.word = word
    }

    static var allValueStrings: [String] { Word.allCases.map(\.wireName) }

    var defaultValueDescription: String { word.wireName }
}

/// Names of one of the wire's enumerations, separated by commas, as an argument.
struct EnumArguments<Word: WireEnum>: ExpressibleByArgument {
    let words: [Word]

    init?(argument: String) {
        let names = argument.split(separator: ",", omittingEmptySubsequences: false)
        words = names.compactMap { Word(wireName: String($0)) }
        guard words.count == names.count else { return nil }
    }

    static var allValueStrings: [String] { EnumArgument<Word>.allValueStrings }

    var defaultValueDescription: String { words.map(\.wireName).joined(separator: ",") }
}

/// A number of segments, or `auto`.
struct SegmentsArgument: Hashable, Sendable, ExplainedArgument {
    static var expected: String { SegmentCount.expected }

    let count: SegmentCount

    init?(argument: String) {
        guard let count = SegmentCount(argument) else { return nil }
        self.count = count
    }
}

/// A byte range of a source.
struct RangeArgument: Hashable, Sendable, ExplainedArgument {
    static var expected: String { SourceRange.expected }

    let range: SourceRange

    init?(argument: String) {
        guard let range = SourceRange(argument) else { return nil }
        self.range = range
    }
}

/// `Name: value`, or `@FILE` with a line for each, as curl takes it.
enum HeaderArgument: Hashable, Sendable, ExplainedArgument {
    static var expected: String { "NAME: VALUE, or @FILE with a line for each" }

    case field(HeaderField)
    case file(String)

    init?(argument: String) {
        if argument.hasPrefix("@"), argument.count > 1 {
            self = .file(String(argument.dropFirst()))
            return
        }
        guard let field = HeaderField(line: argument) else { return nil }
        self = .field(field)
    }

    /// Checks the value of a header field that has an option of its own, for example `--user-agent`.
    static func value(_ text: String) throws -> String {
        guard HeaderField.isValue(text) else { throw ValidationError("expected a text without control characters") }
        return text
    }
}

extension [HeaderArgument] {
    /// The fields, in order. Files are read. Fields of a browser's own connection, which its "Copy as cURL" has, are
    /// left out with a warning.
    func fields() throws(CommandFailure) -> [HeaderField] {
        let fields = try all()
        for field in fields where HopByHopFields.contains(field.name) {
            Output.error.line(
                "xferctl: warning: -H \(SafeText.sanitised(field.name)) ignored: \(HopByHopFields.reason)")
        }
        return fields.filter { !HopByHopFields.contains($0.name) }
    }

    private func all() throws(CommandFailure) -> [HeaderField] {
        var fields: [HeaderField] = []
        for argument in self {
            switch argument {
            case .field(let field): fields.append(field)
            case .file(let path):
                let lines = try FileText.read(path, option: "-H").split(whereSeparator: \.isNewline)
                for (index, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) {
                    guard let field = HeaderField(line: line) else {
                        throw .usage("-H: line \(index + 1) of \(SafeText.sanitised(path)) is not NAME: VALUE")
                    }
                    fields.append(field)
                }
            }
        }
        return fields
    }
}

extension HopByHopFields {
    /// The reason why a field is left out, for warnings.
    static let reason = "it is about one connection, and xferd sets it itself"
}

extension HeaderField {
    /// Parses a field. Returns nil unless the text is `Name: value` (RFC 9110 §5.1, §5.5).
    fileprivate init?(line: some StringProtocol) {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let name = line[..<colon]
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        guard !name.isEmpty, name.utf8.allSatisfy({ Self.tokenBytes.contains($0) }), Self.isValue(value) else {
            return nil
        }
        self.init(name: String(name), value: String(value))
    }

    fileprivate static func isValue(_ text: some StringProtocol) -> Bool {
        !text.utf8.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7f }
    }

    /// RFC 9110 §5.6.2, `tchar`.
    private static let tokenBytes = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
}
