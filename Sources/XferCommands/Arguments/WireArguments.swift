import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

extension WireValue {
    /// Reads an argument as the wire would read the same text, so that both refuse the same things in the same words.
    static func argument(_ text: String) throws -> Self {
        do throws(WireError) {
            return try Self(strict: .string(text))
        } catch {
            throw ValidationError("expected \(error.expected)")
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

/// One of the wire's words as an argument: usage errors, help and completions list them all.
struct WordArgument<Word: WireEnum>: ExpressibleByArgument {
    let word: Word

    init(_ word: Word) { self.word = word }

    init?(argument: String) {
        guard let word = Word(wireName: argument) else { return nil }
        self.word = word
    }

    static var allValueStrings: [String] { Word.allCases.map(\.wireName) }

    var defaultValueDescription: String { word.wireName }
}

/// A number of segments, or `auto`.
struct SegmentsArgument: Hashable, Sendable, ExpressibleByArgument {
    let count: SegmentCount

    init?(argument: String) {
        guard let count = SegmentCount(argument) else { return nil }
        self.count = count
    }
}

/// A request header field as curl's `-H` takes it: `Name: value`.
struct HeaderArgument: Hashable, Sendable, ExpressibleByArgument {
    let name: String
    let value: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        let name = argument[..<colon]
        guard !name.isEmpty, name.utf8.allSatisfy({ Self.tokenBytes.contains($0) }) else { return nil }
        let value = argument[argument.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        guard !value.utf8.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7f }) else { return nil }
        self.name = String(name)
        self.value = String(value)
    }

    /// RFC 9110 §5.6.2, `tchar`.
    private static let tokenBytes = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
}
