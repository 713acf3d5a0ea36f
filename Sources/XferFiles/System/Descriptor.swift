import Glibc

/// An open file descriptor that is closed with its last reference, so that no call ever uses a number that was closed
/// and reused.
final class Descriptor: Sendable {
    let raw: Int32

    init(owning raw: Int32) { self.raw = raw }

    deinit { close(raw) }
}
