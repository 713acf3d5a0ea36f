import CLinux

/// The TCP window of limited transfers, so that the server cannot send a minute ahead of what is read.
enum ReceiveWindow {
    /// About a second's worth, 4 KiB … 4 MiB; without a limit the kernel's maximum. `TCP_WINDOW_CLAMP` (tcp(7)), not
    /// `SO_RCVBUF`, because it can be raised again.
    static func clamp(_ socket: Int32, rate: Int64) {
        _ = xfer_clamp_tcp_window(socket, rate > 0 ? Int32(clamping: min(max(rate, 4 << 10), 4 << 20)) : 1 << 30)
    }
}
