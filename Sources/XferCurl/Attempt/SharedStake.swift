import NIOConcurrencyHelpers
import XferCore

/// Bytes that several attempts at one body have written and that are not durable yet, over all loops. The limits of
/// `Attempt.checkpoints` hold for their sum.
public final class SharedStake: Sendable {
    private struct State {
        /// In total, since the beginning.
        var written: Int64 = 0
        var durable: Int64 = 0
        var isSaving = false
        var attempts = 1
    }

    private let state = NIOLockedValueBox(State())

    public init() {}

    // MARK: For the code that makes the checkpoints

    /// How many attempts there are now.
    public func setAttempts(_ count: Int) { state.withLockedValue { $0.attempts = max(1, count) } }

    /// The number of bytes written so far, which a sync that begins now makes durable. For `settle`.
    public func mark() -> Int64 { state.withLockedValue(\.written) }

    /// A checkpoint has ended, and everything up to its mark is durable.
    public func settle(_ mark: Int64) {
        state.withLockedValue { state in
            state.durable = max(state.durable, mark)
            state.isSaving = false
        }
    }

    /// A requested checkpoint is not needed: an earlier one has covered it.
    public func release() { state.withLockedValue { $0.isSaving = false } }

    // MARK: For the attempts

    /// An attempt has written so many bytes.
    func add(_ count: Int64) { state.withLockedValue { $0.written += max(0, count) } }

    /// An attempt has asked for a checkpoint.
    func beginSaving() { state.withLockedValue { $0.isSaving = true } }

    /// The other attempts' state, for an attempt that has `own` bytes at stake.
    func neighbours(besides own: Int64) -> CheckpointWindow.Neighbours {
        state.withLockedValue { state in
            CheckpointWindow.Neighbours(
                count: state.attempts - 1, atStake: max(0, state.written - state.durable - own),
                areSaved: state.isSaving)
        }
    }
}
