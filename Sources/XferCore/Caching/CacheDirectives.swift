public import XferModel

/// The directives of `Cache-Control` (RFC 9111 §5.2), of a request or a response. Names are compared without case; a
/// value may be a token or quoted.
public struct CacheDirectives: Hashable, Sendable {
    /// The value of a directive that counts seconds.
    public enum Seconds: Hashable, Sendable {
        case absent
        case value(Int64)
        /// The value is not a number, or several values contradict each other. Treat the response as stale (§4.2.1).
        case invalid
    }

    /// The greatest number of seconds of a directive (§1.2.2: 2^31 represents any larger number).
    public static let maxSeconds: Int64 = 1 << 31

    private var arguments: [String: [String?]] = [:]

    public init(_ fields: [HeaderField]) {
        for field in fields where field.name.equalsIgnoringASCIICase("Cache-Control") {
            for element in Self.elements(of: field.value) {
                let parts = element.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = Self.trimmed(parts[0]).lowercased()
                guard !name.isEmpty else { continue }
                arguments[name, default: []].append(parts.count == 2 ? Self.unquoted(Self.trimmed(parts[1])) : nil)
            }
        }
    }

    /// True if there is none.
    public var isEmpty: Bool { arguments.isEmpty }

    /// True if the directive is there, with an argument or without.
    public func has(_ name: String) -> Bool { arguments[name] != nil }

    /// True if the directive is present without an argument, as `max-stale` may be.
    public func isBare(_ name: String) -> Bool { arguments[name]?.allSatisfy { $0 == nil } ?? false }

    /// Returns a directive that counts seconds (§1.2.2).
    public func seconds(_ name: String) -> Seconds {
        guard let found = arguments[name] else { return .absent }
        let values = Set(found.map { $0.flatMap(Self.seconds) })
        guard values.count == 1, let value = values.first ?? nil else { return .invalid }
        return .value(value)
    }

    static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return min(Int64(text, radix: 10) ?? maxSeconds, maxSeconds)
    }

    // MARK: Syntax

    /// Elements of a list (RFC 9110 §5.6.1); commas within quotes belong to their element.
    private static func elements(of text: String) -> [Substring] {
        var elements: [Substring] = []
        var start = text.startIndex
        var (isQuoted, isEscaped) = (false, false)
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                elements.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        elements.append(text[start...])
        return elements
    }

    private static func trimmed(_ text: Substring) -> Substring {
        func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
        let start = text.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return "" }
        return start[...last]
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
        var result = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                result.append(character)
                isEscaped = false
            }
        }
        return result
    }
}
