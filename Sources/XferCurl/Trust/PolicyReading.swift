public import XferModel
import XferTrust

/// Reads what operators write into trust policies; gives access to the parts that need OpenSSL.
public enum PolicyReading {
    /// `sha256/BASE64`, or PEM text of one or more certificates.
    /// - Throws: with a reason that never repeats what was given, which may be a private key.
    public static func pins(inText text: String) throws(PolicyReadingError) -> [Pin] {
        do throws(PinError) {
            return try PinReader.pins(inText: text)
        } catch {
            throw PolicyReadingError(description: error.description)
        }
    }

    /// A file's contents: PEM or DER.
    public static func pins(inFile bytes: [UInt8]) throws(PolicyReadingError) -> [Pin] {
        do throws(PinError) {
            return try PinReader.pins(inFile: bytes)
        } catch {
            throw PolicyReadingError(description: error.description)
        }
    }

    /// Checks that certificate and key can be read, belong together, and that only the owner can read the key.
    public static func check(_ files: ClientCertificateFiles) throws(PolicyReadingError) {
        do throws(ClientIdentityError) {
            _ = try ClientIdentity(files)
        } catch {
            throw PolicyReadingError(description: error.description)
        }
    }

    /// A certificate as PEM text.
    public static func pem(_ pin: CertificatePin) -> String? { Certificate(der: pin.der)?.pem }
}

/// Why something could not be read.
public struct PolicyReadingError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}

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
