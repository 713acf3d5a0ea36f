import XferTrust

/// The certificate authorities' file, as far as others have to know of it.
public enum Authorities {
    /// Names the contents of the file, nil the system's: another text for other contents. Blocks for some milliseconds,
    /// for less where they are `known`.
    /// - Throws: when it cannot be read, or holds no certificates: what was read before stays in force then.
    public static func fingerprint(ofFile file: String?, known: String?) throws(AuthoritiesError) -> String {
        do throws(TrustAnchorsError) {
            return try TrustAnchors(file: file).fingerprint(known: known)
        } catch {
            throw AuthoritiesError(description: error.description)
        }
    }
}

/// Why the file is not in force.
public struct AuthoritiesError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}
