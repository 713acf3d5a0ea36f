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
