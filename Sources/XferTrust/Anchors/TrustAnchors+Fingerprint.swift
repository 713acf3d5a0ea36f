import Glibc

extension TrustAnchors {
    /// The largest bundle that is read, in bytes: the common ones have a quarter of a mebibyte.
    private static let largestFile = 16 << 20

    /// Identifies the contents of the bundle: other contents have another text.
    /// - Parameter known: the text of contents that were in force before, which need not be parsed again.
    /// - Throws: when the file cannot be read, or has no certificates.
    public func fingerprint(known: String?) throws(TrustAnchorsError) -> String {
        let found = String(SHA256Digest.hex(of: try contents()).prefix(16))
        // Contents that cannot be parsed are not in force.
        if found != known { _ = try AnchorStore(file: file) }
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
