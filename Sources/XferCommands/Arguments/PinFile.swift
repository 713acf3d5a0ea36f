import Glibc
import XferModel

/// Reads pins from arguments: a pin itself, or the name of a certificate file. `xferctl` reads the file, because the
/// daemon may lack the permission.
enum PinFile {
    /// Returns `sha256/…` unchanged, and the content of a file as PEM.
    static func pin(_ argument: String) throws(CommandFailure) -> String {
        if argument.hasPrefix("sha256/") { return argument }
        let descriptor = open(argument, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .usage(
                "--pin: \(SafeText.sanitised(argument)) is neither sha256/… nor a file that can be read: "
                    + String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { throw .usage("--pin: \(SafeText.sanitised(argument)) cannot be read or is empty") }
        bytes.removeSubrange(count...)
        if let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN") { return text }
        return pem(bytes)
    }

    /// Encodes DER as PEM (RFC 7468 §5). The daemon checks that it is a certificate.
    private static func pem(_ der: [UInt8]) -> String {
        var rest = Substring(Base64.encode(der))
        var lines = ["-----BEGIN CERTIFICATE-----"]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
    }
}
