import CLinux

/// The TCP window of limited transfers: the server shall not be a minute ahead of what is read.
enum ReceiveWindow {
    /// About a second's worth, 16 KiB … 4 MiB. `TCP_WINDOW_CLAMP` (tcp(7)), not `SO_RCVBUF`: it can grow again.
    static func clamp(_ socket: Int32, rate: Int64) {
        _ = xfer_clamp_tcp_window(socket, Int32(min(max(rate, 16 << 10), 4 << 20)))
    }
}
