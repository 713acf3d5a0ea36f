import Glibc

/// Where bytes that are no text for people are written to.
struct ByteOutput {
    let descriptor: Int32
    let name: String

    /// - Parameter path: nil is standard output.
    init(path: String?) throws(CommandFailure) {
        guard let path else {
            (descriptor, name) = (STDOUT_FILENO, "standard output")
            return
        }
        name = SafeText.sanitised(path)
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure("cannot write to") }
    }

    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written)
            }
            if count > 0 {
                written += count
            } else if errno != EINTR {
                throw failure("cannot write to")
            }
        }
    }

    func close() throws(CommandFailure) {
        if descriptor != STDOUT_FILENO, Glibc.close(descriptor) != 0 { throw failure("cannot close") }
    }

    private func failure(_ what: String) -> CommandFailure {
        CommandFailure(.outputFailed, "\(what) \(name): \(String(cString: strerror(errno)))")
    }
}
