public import XferModel

/// Reads the pins and certificates of trust policies. It gives other targets access to the functions that need OpenSSL.
public enum PolicyReading {
    /// Reads pins from text: `sha256/BASE64`, or one or more certificates in PEM form.
    /// - Throws: an error whose text never contains the given text, because that may be a private key.
    public static func pins(inText text: String) throws(PolicyReadingError) -> [Pin] {
        do throws(PinError) {
            return try PinReader.pins(inText: text)
        } catch {
            throw PolicyReadingError(description: error.description)
        }
    }

    /// Reads pins from a file's contents, which may be PEM or DER.
    public static func pins(inFile bytes: [UInt8]) throws(PolicyReadingError) -> [Pin] {
        do throws(PinError) {
            return try PinReader.pins(inFile: bytes)
        } catch {
            throw PolicyReadingError(description: error.description)
        }
    }

    /// Checks that the certificate and the key can be read and belong together, and that only the owner can read the
    /// key's file.
    public static func check(_ files: ClientCertificateFiles) throws(PolicyReadingError) {
        do throws(ClientIdentityError) {
            _ = try ClientIdentity(files)
        } catch {
            throw PolicyReadingError(description: error.description)
        }
    }

    /// A pinned certificate as PEM text; nil if it cannot be parsed.
    public static func pem(_ pin: CertificatePin) -> String? { Certificate(der: pin.der)?.pem }
}

/// The reason why pins or certificate files could not be read.
public struct PolicyReadingError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}

/// Access to the file of the certificate authorities.
public enum Authorities {
    /// A text that identifies the contents of the file; a nil `file` means the system's file. Different contents have
    /// different texts. Blocks for some milliseconds, or for less if the result is equal to `known`.
    ///
    /// - Parameter known: the text of the contents in force; nil before the first start.
    /// - Throws: if the file cannot be read, or differs from `known` and has no certificates. Then the previous
    ///   contents stay in force.
    public static func fingerprint(ofFile file: String?, known: String?) throws(AuthoritiesError) -> String {
        do throws(TrustAnchorsError) {
            return try TrustAnchors(file: file).fingerprint(known: known)
        } catch {
            throw AuthoritiesError(description: error.description)
        }
    }
}

/// The reason why the authorities' file cannot be used.
public struct AuthoritiesError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}
