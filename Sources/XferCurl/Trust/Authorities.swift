import XferTrust

/// The certificate authorities' file.
public enum Authorities {
    /// Identifies the contents of the file, nil the system's: other contents have another text. Blocks for some
    /// milliseconds, for less if the contents are `known`.
    /// - Throws: when the file cannot be read, or has no certificates: the former contents stay in force then.
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
