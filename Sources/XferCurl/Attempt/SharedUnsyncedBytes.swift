import NIOConcurrencyHelpers
import XferCore

/// Bytes that several attempts at one body have written and that are not durable yet, over all loops. The limits of
/// `Attempt.checkpoints` apply to their sum.
public final class SharedUnsyncedBytes: Sendable {
    private struct State {
        /// The number of bytes that all attempts together have written since the beginning.
        var written: Int64 = 0
        var durable: Int64 = 0
        var isSaving = false
        var attempts = 1
    }

    private let state = NIOLockedValueBox(State())

    public init() {}

    // MARK: For the code that makes the checkpoints

    /// Sets the number of running attempts.
    public func setAttempts(_ count: Int) { state.withLockedValue { $0.attempts = max(1, count) } }

    /// The number of bytes written so far, which a sync that begins now makes durable. Pass it to `settle`.
    public func mark() -> Int64 { state.withLockedValue(\.written) }

    /// Ends a checkpoint: all bytes up to its mark are durable.
    public func settle(_ mark: Int64) {
        state.withLockedValue { state in
            state.durable = max(state.durable, mark)
            state.isSaving = false
        }
    }

    /// Cancels a requested checkpoint that is not needed, because an earlier checkpoint covers its bytes.
    public func release() { state.withLockedValue { $0.isSaving = false } }

    // MARK: For the attempts

    /// Counts bytes that an attempt has written.
    func add(_ count: Int64) { state.withLockedValue { $0.written += max(0, count) } }

    /// Records that an attempt has requested a checkpoint.
    func beginSaving() { state.withLockedValue { $0.isSaving = true } }

    /// The other attempts' state, for an attempt that has `own` bytes that are not durable.
    func neighbours(besides own: Int64) -> CheckpointWindow.Neighbours {
        state.withLockedValue { state in
            CheckpointWindow.Neighbours(
                count: state.attempts - 1, unsynced: max(0, state.written - state.durable - own),
                areSaved: state.isSaving)
        }
    }
}
