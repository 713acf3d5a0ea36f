import COpenSSL
import Glibc
import NIOConcurrencyHelpers

/// The certificate authorities of a PEM bundle, read again whenever the file has changed.
///
/// Reading a common bundle takes about 10 ms, checking that it has not changed about 1 µs. If a changed file cannot be
/// read, the last contents that could be read stay in force.
final class TrustAnchors: Sendable {
    /// The contents of the bundle at some time.
    struct Snapshot: Sendable {
        let store: AnchorStore
        let generation: UInt64
    }

    private struct State {
        var snapshot: Snapshot?
        /// Identity of the file that was read last, successfully or not.
        var identity: FileIdentity?
        var failure: TrustAnchorsError?
    }

    let file: String
    private let state = NIOLockedValueBox(State())

    /// Does not read the file yet.
    ///
    /// - Parameter file: a PEM bundle; nil for the system's bundle.
    init(file: String? = nil) { self.file = file ?? Self.systemFile }

    /// The first of the usual bundles (Debian, Fedora, Alpine) that exists, else Debian's.
    static var systemFile: String {
        let bundles = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
        ]
        return bundles.first { access($0, R_OK) == 0 } ?? bundles[0]
    }

    /// Reads the file if it has changed.
    ///
    /// - Returns: the generation of the contents, from 1. It increases when changed contents are read.
    /// - Throws: if the file has never been readable.
    @discardableResult
    func refresh() throws(TrustAnchorsError) -> UInt64 { try current().generation }

    func current() throws(TrustAnchorsError) -> Snapshot {
        let file = file
        let result = state.withLockedValue { state -> Result<Snapshot, TrustAnchorsError> in
            let identity = FileIdentity(path: file)
            if identity == nil || identity != state.identity { Self.load(file, identity, into: &state) }
            if let snapshot = state.snapshot { return .success(snapshot) }
            return .failure(state.failure ?? .unreadable(file: file, detail: "it has not been read yet"))
        }
        return try result.get()
    }

    private static func load(_ file: String, _ identity: FileIdentity?, into state: inout State) {
        // The identity was taken before the read. If the file changes during the read, the next call reads it again.
        state.identity = identity
        guard identity != nil else {
            state.failure = .unreadable(file: file, detail: String(cString: strerror(errno)))
            return
        }
        do throws(TrustAnchorsError) {
            let store = try AnchorStore(file: file)
            state.snapshot = Snapshot(store: store, generation: (state.snapshot?.generation ?? 0) + 1)
            state.failure = nil
        } catch {
            state.failure = error
        }
    }
}

/// The reason why the authorities cannot be read.
enum TrustAnchorsError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(file: String, detail: String)

    var description: String {
        switch self {
        case .unreadable(let file, let detail): "the trust anchors in \(file) cannot be read: \(detail)"
        }
    }
}

/// Values that change when the file changes.
private struct FileIdentity: Hashable {
    let device: UInt
    let inode: UInt
    let size: Int
    let changed: [Int]

    /// Reads the identity of the file. Returns nil if stat(2) fails; `errno` is then set.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt(clamping: status.st_dev)
        inode = UInt(clamping: status.st_ino)
        size = Int(clamping: status.st_size)
        changed = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}

extension TrustAnchors {
    /// The largest bundle that is read, in bytes. Common bundles have about 256 KiB.
    private static let largestFile = 16 << 20

    /// Returns a text that identifies the contents of the bundle; other contents have another text.
    ///
    /// - Parameter known: the text for contents that were in force before, which are not parsed again; nil before the
    ///   first start, when no connection was judged by any.
    /// - Throws: when the file cannot be read, or differs from `known` and has no certificates.
    func fingerprint(known: String?) throws(TrustAnchorsError) -> String {
        let found = String(SHA256Digest.hex(of: try contents()).prefix(16))
        // Contents that cannot be parsed are not in force.
        if let known, found != known { _ = try AnchorStore(file: file) }
        return found
    }

    private func contents() throws(TrustAnchorsError) -> [UInt8] {
        func failure() -> TrustAnchorsError { .unreadable(file: file, detail: String(cString: strerror(errno))) }
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw failure() }
            if count == 0 { return bytes }
            bytes += buffer[0..<count]
            guard bytes.count <= Self.largestFile else {
                throw .unreadable(file: file, detail: "it has more than \(Self.largestFile) bytes")
            }
        }
    }
}

/// SHA-256 (FIPS 180-4) of bytes in memory.
enum SHA256Digest {
    /// Returns the bytes as lower-case hexadecimal digits.
    static func hex(of bytes: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        let isDone = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1
        precondition(isDone, "OpenSSL lacks SHA-256")
        return digest.map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
