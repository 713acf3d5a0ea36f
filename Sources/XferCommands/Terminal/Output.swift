import Glibc

/// One of the process's output streams, written without buffering so that what was printed before a signal is there.
///
/// Nothing here escapes text: callers pass what servers and files gave through `SafeText` first.
struct Output: Sendable {
    let descriptor: Int32

    static let standard = Output(descriptor: STDOUT_FILENO)
    static let error = Output(descriptor: STDERR_FILENO)
    /// Writes nothing.
    static let discarding = Output(descriptor: -1)

    func line(_ text: String) { write(text + "\n") }

    /// Writes everything or gives up: a reader that went away is no reason to fail a transfer.
    func write(_ text: String) {
        guard descriptor >= 0 else { return }
        var text = text
        text.withUTF8 { buffer in
            var rest = UnsafeRawBufferPointer(buffer)
            while let base = rest.baseAddress, !rest.isEmpty {
                let count = Glibc.write(descriptor, base, rest.count)
                if count > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno == EAGAIN {
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&waiting, 1, -1)
                } else if errno != EINTR {
                    return
                }
            }
        }
    }
}
