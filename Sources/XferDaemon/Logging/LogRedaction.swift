import Logging
import XferModel

/// Hides secrets in whatever is logged, so that no call site has to remember.
enum LogRedaction {
    /// Every URL in the text with its user info and secret parameters masked.
    static func text(_ text: String) -> String {
        guard text.contains("://") else { return text }
        return text.split(separator: " ", omittingEmptySubsequences: false)
            .map { $0.contains("://") ? Redaction.url(String($0)) : String($0) }
            .joined(separator: " ")
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

    /// The header names that are secret, and narrower than for URL parameters, so that `signal` and `keys` can be
    /// logged.
    private static func isSecret(_ key: String) -> Bool {
        let dashed = key.lowercased().map { $0 == "_" ? "-" : String($0) }.joined()
        return Redaction.isSecretHeader(dashed) || ["sig", "signature"].contains(dashed)
            || ["token", "secret", "password"].contains { dashed.contains($0) }
    }
}
