import Glibc
import XferCore
import XferCurl
public import XferModel

/// Reads and writes the parts of trust policies as text.
public enum PolicyText {
    /// `sha256/BASE64`, or PEM text of certificates. The error never repeats the input.
    public static func pins(in text: String) throws(PolicyTextError) -> [Pin] {
        do throws(PolicyReadingError) {
            return try PolicyReading.pins(inText: text)
        } catch {
            throw PolicyTextError(description: error.description)
        }
    }

    /// The certificates of a PEM or DER file.
    public static func pins(inFile path: String) throws(PolicyTextError) -> [Pin] {
        guard let bytes = read(path, limit: 1 << 20) else {
            throw PolicyTextError(description: "\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        do throws(PolicyReadingError) {
            return try PolicyReading.pins(inFile: bytes)
        } catch {
            throw PolicyTextError(description: "\(path): \(error)")
        }
    }

    /// A host pattern, internationalised or not.
    public static func host(_ text: String) throws(PolicyTextError) -> HostPattern {
        do throws(HostPatternError) {
            return try HostPattern.parse(text)
        } catch {
            throw PolicyTextError(description: error.description)
        }
    }

    /// The pin in the form that `pins(in:)` reads: `sha256/BASE64`, or PEM.
    public static func text(of pin: Pin) -> String {
        switch pin {
        case .key(let pin): pin.description
        case .certificate(let pin): PolicyReading.pem(pin) ?? pin.key.description
        }
    }

    /// Checks that certificate and key can be read and match each other, and that only the key's owner can read the
    /// key.
    public static func check(_ files: ClientCertificateFiles) throws(PolicyTextError) {
        do throws(PolicyReadingError) {
            try PolicyReading.check(files)
        } catch {
            throw PolicyTextError(description: error.description)
        }
    }

    /// Checks that the policy is valid by itself.
    /// - Parameter now: an expiry before this is refused, too; nil ignores time, because a valid policy may expire
    ///   after it was written.
    public static func check(_ policy: TrustPolicy, at now: Timestamp? = nil) throws(PolicyTextError) {
        do throws(TrustPolicyError) {
            try TrustPolicyRules.check(policy, at: now)
        } catch {
            throw PolicyTextError(description: error.description)
        }
    }

    private static func read(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let step = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            guard step >= 0 else { return nil }
            if step == 0 { break }
            count += step
        }
        return Array(bytes.prefix(count))
    }
}

/// The reason why a part of a policy could not be read.
public struct PolicyTextError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }
}
