import Glibc
import Testing

@testable import XferCommands

/// A pseudo-terminal (pty(7)): what is written to `terminal` is read back here.
final class FakeTerminal {
    let controller: Int32
    let path: String
    let device: Int32

    init(columns: UInt16 = 40, rows: UInt16 = 10) throws {
        var controller: Int32 = -1
        var device: Int32 = -1
        var name = [CChar](repeating: 0, count: 128)
        var window = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(openpty(&controller, &device, &name, nil, &window) == 0)
        self.controller = controller
        self.device = device
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        _ = fcntl(controller, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(controller)
        close(device)
    }

    func terminal(_ environment: [String: String] = ["TERM": "xterm", "LANG": "C.UTF-8"]) -> Terminal {
        Terminal(Output(descriptor: device), environment: { environment[$0] })
    }

    func resize(columns: UInt16, rows: UInt16) {
        var window = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(device, UInt(TIOCSWINSZ), &window)
    }

    /// Everything written since the last call; the terminal's own `\r\n` is `\n` again.
    func written() -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(controller, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
    }

    func type(_ text: String) { Output(descriptor: controller).write(text) }
}
