import Dispatch
import Glibc
import NIOConcurrencyHelpers

/// The pipe between the process's signal handlers and whoever wants to know.
final class SignalPipe: Sendable {
    static let shared = SignalPipe()

    private struct State: Sendable {
        var isOpen = false
        var receivers: [Int32: @Sendable (SignalEvents.Signal) -> Void] = [:]
    }
    private let state = NIOLockedValueBox(State())

    /// Sends those signals to the receiver from now on.
    func deliver(
        _ signals: [SignalEvents.Signal], to receiver: @escaping @Sendable (SignalEvents.Signal) -> Void
    ) throws(SystemError) {
        let failure: SystemError? = state.withLockedValue { state in
            if !state.isOpen {
                var ends: [Int32] = [-1, -1]
                guard pipe(&ends) == 0 else { return SystemError(call: "pipe") }
                for end in ends {
                    _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                    _ = fcntl(end, F_SETFL, O_NONBLOCK)
                }
                signalPipeWriteEnd = ends[1]
                watch(ends[0])
                state.isOpen = true
            }
            for signal in signals {
                state.receivers[signal.rawValue] = receiver
                var action = sigaction()
                action.__sigaction_handler.sa_handler = writeSignalToPipe
                action.sa_flags = Int32(SA_RESTART)
                sigaction(signal.rawValue, &action, nil)
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// The source lives for ever: its handler holds it, and nobody cancels it.
    private func watch(_ descriptor: Int32) {
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "xferd.signals"))
        source.setEventHandler { [self] in
            defer { withExtendedLifetime(source) {} }
            var numbers = [UInt8](repeating: 0, count: 64)
            let count = read(descriptor, &numbers, numbers.count)
            guard count > 0 else { return }
            for number in numbers[..<count] {
                let receiver = state.withLockedValue { $0.receivers[Int32(number)] }
                if let signal = SignalEvents.Signal(rawValue: Int32(number)) { receiver?(signal) }
            }
        }
        source.resume()
    }
}

/// Where the handler writes. A plain word, initialised at compile time, because a handler may run at any instruction.
///
/// Unchecked: written once, under `SignalPipe`'s lock, before the first handler is installed.
nonisolated(unsafe) private var signalPipeWriteEnd: Int32 = -1

/// Async-signal-safe: one write(2), and errno is left as it was. A full pipe loses nothing that counts: 64 KiB of
/// signals are on their way already.
private nonisolated func writeSignalToPipe(_ number: Int32) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(signalPipeWriteEnd, &byte, 1)
    errno = saved
}
