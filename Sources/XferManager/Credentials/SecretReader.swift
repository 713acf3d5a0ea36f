import Glibc
public import XferModel

/// Reads secrets from where they are stored, again at each attempt. Blocks: call it on the pool.
struct SecretReader: Sendable {
    /// `$CREDENTIALS_DIRECTORY`; nil without one.
    let credentialsDirectory: String?
    let environment: [String: String]

    /// The highest length of a secret, in bytes.
    static let maxBytes = 64 << 10

    func read(_ secret: Secret) throws(SecretFault) -> String {
        switch secret {
        case .value(let text):
            return text
        case .environment(let name):
            guard let text = environment[name] else {
                throw SecretFault("the variable \(name) is not in the service's environment")
            }
            return text
        case .file(let path):
            guard path.hasPrefix("/") else { throw SecretFault("\(path) is not an absolute path") }
            return try readFile(path)
        case .systemdCredential(let name):
            guard let credentialsDirectory else {
                throw SecretFault(
                    "there is no credential \(name): the service was started without any (LoadCredential=)")
            }
            guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.utf8.contains(0) else {
                throw SecretFault("\(name) is not the name of a credential")
            }
            return try readFile("\(credentialsDirectory)/\(name)")
        }
    }

    private func readFile(_ path: String) throws(SecretFault) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        try check(descriptor, path)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= Self.maxBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 { throw unreadable(path, errno) }
            if count == 0 { return try text(bytes, path) }
            bytes += chunk[..<count]
        }
        throw SecretFault("\(path) is larger than \(Self.maxBytes) bytes")
    }

    /// Checks that only its owner may read a secret file. Files from the service manager belong to root and are
    /// readable by this service's group.
    private func check(_ descriptor: Int32, _ path: String) throws(SecretFault) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SecretFault("\(path) is not a file") }
        let isHandedOver =
            status.st_uid == 0 && credentialsDirectory.map { path.hasPrefix($0 + "/") } == true
        guard isHandedOver || status.st_mode & 0o077 == 0 else {
            throw SecretFault(
                "\(path) has mode 0\(String(status.st_mode & 0o7777, radix: 8)): "
                    + "a secret must be readable by its owner only (0600)")
        }
    }

    private func text(_ bytes: [UInt8], _ path: String) throws(SecretFault) -> String {
        var bytes = bytes[...]
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw SecretFault("\(path) is not UTF-8") }
        return text
    }

    private func unreadable(_ path: String, _ code: Int32) -> SecretFault {
        SecretFault("\(path) cannot be read: \(String(cString: strerror(code)))")
    }
}

/// Checks that secrets can be read, for the validation of a configuration.
public enum SecretSource {
    /// The reason why the secret cannot be read now; nil if it can.
    public static func fault(
        of secret: Secret, credentialsDirectory: String?, environment: [String: String] = [:]
    ) -> String? {
        do throws(SecretFault) {
            _ = try SecretReader(credentialsDirectory: credentialsDirectory, environment: environment).read(secret)
            return nil
        } catch {
            return error.description
        }
    }
}

/// The reason why a secret could not be read. It never contains a part of the secret.
struct SecretFault: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
