import Logging
import XferModel

/// Hides secrets in all log messages, so that no call site has to.
enum LogRedaction {
    /// Every URL in the text with its user info and secret parameters masked.
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

    /// The header names that are secret: narrower than for URL parameters, so that `signal` and `keys` can be logged.
    private static func isSecret(_ key: String) -> Bool {
        let dashed = key.lowercased().map { $0 == "_" ? "-" : String($0) }.joined()
        return Redaction.isSecretHeader(dashed)
    }
}
