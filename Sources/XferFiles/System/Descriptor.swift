import Glibc

/// An open file descriptor that is closed when its last user lets go of it, so that no call ever runs on a number
/// that was closed and given out again.
final class Descriptor: Sendable {
    let raw: Int32

    init(owning raw: Int32) { self.raw = raw }

    deinit { close(raw) }
}
