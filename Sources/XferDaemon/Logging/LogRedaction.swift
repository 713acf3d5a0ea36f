import Logging
import XferModel

/// Masks secrets in all log messages, so that the code that logs need not.
enum LogRedaction {
    /// The text with the user info and secret parameters of every URL in it masked.
    static func text(_ text: String) -> String {
        Redaction.text(text)
    }

    /// A metadata value as text, masked when its key says that it is a secret (`authorization`, `*-token`, `*-key`,
    /// `password`, `*secret*`, …).
    static func value(_ value: Logger.MetadataValue, of key: String) -> String {
        if isSecret(key) { return Redaction.mask }
        return switch value {
        case .string(let string): text(string)
        case .stringConvertible(let convertible): text(convertible.description)
        case .array(let values): "[" + values.map { Self.value($0, of: key) }.joined(separator: ", ") + "]"
        case .dictionary(let values):
            "{"
                + values.sorted { $0.key < $1.key }.map { "\($0.key): \(Self.value($0.value, of: $0.key))" }
                .joined(separator: ", ") + "}"
        }
    }

    /// Applies the rule for header names. The rule for URL parameters is wider: it would mask `signal` and `keys`, too.
    private static func isSecret(_ key: String) -> Bool {
        let dashed = key.lowercased().map { $0 == "_" ? "-" : String($0) }.joined()
        return Redaction.isSecretHeader(dashed)
    }
}
