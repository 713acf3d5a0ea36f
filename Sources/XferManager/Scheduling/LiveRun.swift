import XferCore
import XferModel
import XferSystem

/// A task's run while it lives.
struct LiveRun {
    let run: any TaskRun
    /// The transfer it was started on.
    let transfer: TransferID
    let control: RunControl
    let trust: RunTrust
    let owner: Owner
    let progressInterval: Duration
    /// Whether it can be stopped and repeated later.
    let mayStop: Bool
    /// Whether its policies have changed, so that it stops and is queued again.
    var reevaluatesTrust = false
    var lastProgress: MonotonicInstant?
    /// Whether it may use metered networks.
    var allowsMetered = true
    let begunAt = Clocks.monotonic()
    /// Whether the run has ended and its end is being committed.
    var isEnding = false

    /// Asks it to stop at the next safe point.
    func stop() async { await run.stop() }

    /// Bytes moved in both directions.
    var byteCount: Int64 { control.progress.received.addingSaturated(control.progress.sent) }

    /// Whether its body is on the way; in other phases the bytes have arrived already.
    var isTransferring: Bool { [.connecting, .transferring].contains(control.progress.phase) }
}
