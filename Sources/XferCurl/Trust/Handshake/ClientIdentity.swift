import COpenSSL
import Glibc
import XferModel

/// A certificate and key for servers that request one.
///
/// `@unchecked Sendable`: `key` is parsed once and never changed; OpenSSL counts its references atomically.
final class ClientIdentity: @unchecked Sendable {
    /// The certificates, leaf first.
    let certificates: [Certificate]
    private let key: OpaquePointer

    /// Reads and checks the files. Group and others must have no permissions for the key's file. The key must not be
    /// encrypted and has to belong to the leaf.
    init(_ files: ClientCertificateFiles) throws(ClientIdentityError) {
        let chain = try PEMFile.read(files.certificate, isSecret: false)
        let certificates: [Certificate]
        do throws(PinError) {
            certificates = try PinReader.certificates(in: chain)
        } catch {
            throw .badCertificate(file: files.certificate, error)
        }
        let text = try PEMFile.read(files.key, isSecret: true)
        let key = text.withUnsafeBytes { buffer -> OpaquePointer? in
            guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return nil }
            defer { BIO_free(bio) }
            return PEM_read_bio_PrivateKey(bio, nil, refusePassphrase, nil)
        }
        ERR_clear_error()
        guard let key else { throw .badKey(file: files.key) }
        guard let leaf = certificates.first, X509_check_private_key(leaf.pointer, key) == 1 else {
            EVP_PKEY_free(key)
            ERR_clear_error()
            throw .keyOfAnother(certificate: files.certificate, key: files.key)
        }
        self.certificates = certificates
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    func install(on context: OpaquePointer) throws(HandshakeHookError) {
        guard let leaf = certificates.first, SSL_CTX_use_certificate(context, leaf.pointer) == 1,
            SSL_CTX_use_PrivateKey(context, key) == 1
        else { throw HandshakeHookError("the client certificate") }
        for certificate in certificates.dropFirst() {
            guard xfer_ssl_ctx_add_chain_certificate(context, certificate.pointer) == 1 else {
                throw HandshakeHookError("the client certificate's chain")
            }
        }
    }
}

/// The reason why a client certificate cannot be used.
enum ClientIdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(file: String, errno: Int32)
    /// Others can read the file; `mode` has its permission bits.
    case exposed(file: String, mode: UInt32)
    case tooLarge(file: String)
    case badCertificate(file: String, PinError)
    case badKey(file: String)
    case keyOfAnother(certificate: String, key: String)

    var description: String {
        switch self {
        case .unreadable(let file, let errno): "\(file) cannot be read: \(String(cString: strerror(errno)))"
        case .exposed(let file, let mode):
            "\(file) has mode 0\(String(mode, radix: 8)): a private key must be readable by its owner only (0600)"
        case .tooLarge(let file): "\(file) is larger than \(PEMFile.maxBytes) bytes"
        case .badCertificate(let file, let error): "\(file): \(error)"
        case .badKey(let file): "\(file) contains no private key that can be read (PEM, not encrypted)"
        case .keyOfAnother(let certificate, let key):
            "the key in \(key) does not belong to the certificate in \(certificate)"
        }
    }
}

/// Reads small files with certificates and keys.
enum PEMFile {
    static let maxBytes = 1 << 20

    static func read(_ path: String, isSecret: Bool) throws(ClientIdentityError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(file: path, errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(file: path, errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unreadable(file: path, errno: EINVAL) }
        if isSecret, status.st_mode & 0o077 != 0 { throw .exposed(file: path, mode: status.st_mode & 0o7777) }
        guard status.st_size <= maxBytes else { throw .tooLarge(file: path) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count <= maxBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 { throw .unreadable(file: path, errno: errno) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
        throw .tooLarge(file: path)
    }
}

/// A `pem_password_cb` that always fails. Without it OpenSSL would prompt on the terminal.
private nonisolated func refusePassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isWriting: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 { -1 }
