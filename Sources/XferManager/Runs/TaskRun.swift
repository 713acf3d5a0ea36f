import NIOConcurrencyHelpers
import XferCurl
import XferFiles
import XferModel
import XferStore

/// One task on its way from `running` to whatever comes next; there is one kind of run for each way bytes go.
///
/// The order is the house's: what a restart has to know is committed before it is done. A run commits what it learns on its
/// way itself; the task's next state is the manager's to commit.
protocol TaskRun: AttemptMaker {
    var facts: RunState { get set }
    /// What was kept of the response, committed with the task's end.
    var keptResponse: KeptResponse? { get }
    /// Whether a later try can go on from what this one achieved, so that its transfer stays when the task fails.
    var isResumable: Bool { get }

    /// Whether the next try should be made on a transfer of its own.
    var leavesTransfer: Bool { get }

    /// Whose claims to space end with the run.
    var claimant: TransferID? { get }

    /// Asks it to stop at the next safe point.
    func stop() async

    /// Bytes per second, 0 is unlimited; takes effect at once.
    func setMaxRates(receive: Int64, send: Int64) async

    /// Runs to the end. What is thrown is how it ended, too.
    func run() async throws -> RunEnd
}

extension TaskRun {
    var transfer: Transfer {
        get { facts.transfer }
        set { facts.transfer = newValue }
    }
    var outcome: TaskOutcome {
        get { facts.outcome }
        set { facts.outcome = newValue }
    }
    var course: AttemptState {
        get { facts.course }
        set { facts.course = newValue }
    }

    var keptResponse: KeptResponse? { nil }
    var claimant: TransferID? { transfer.id }
    var leavesTransfer: Bool { false }

    func stop() async {
        for attempt in control.requestStop() { await services.engine.stop(attempt.id) }
    }
    var isResumable: Bool { control.progress.received > 0 }

    /// Runs to the end; never throws: every end is a value.
    func execute() async -> RunResult {
        let end: RunEnd
        var isPartLost = false
        do {
            end = try await run()
        } catch FileError.cancelled {
            end = .stopped
        } catch let error as FileError {
            isPartLost = error.isOfLostPart
            end = .failed(error.transferError.explainedByDescriptors)
        } catch let error as TransferError {
            end = .failed(error.explainedByDescriptors)
        } catch is StoreError {
            // Without descriptors no further reader can be opened, which says nothing of the disk.
            end =
                Descriptors.areScarce
                ? .failed(TransferError(.internalError, "the database cannot be read").explainedByDescriptors)
                : .storageFailed
        } catch is Overtaken {
            end = .overtaken
        } catch {
            end = .failed(TransferError(.internalError, "\(error)").explainedByDescriptors)
        }
        if let claimant { services.space.withLockedValue { $0.remove(claimant) } }
        return RunResult(
            end: end, transferID: transfer.id, outcome: outcome, leavesTransfer: leavesTransfer,
            pendingEvents: pendingEvents,
            keptResponse: keptResponse,
            requestWasSent: course.requestWasSent, isResumable: isResumable, isPartLost: isPartLost,
            progress: control.progress)
    }
}

extension FileError {
    /// Whether the partial file is not there any more as it was: neither its bytes nor an intent to publish them count.
    fileprivate var isOfLostPart: Bool {
        switch self {
        case .partChanged, .publishLost: true
        default: false
        }
    }
}

/// The task's row is no longer running: whatever the run was about to do must not happen.
struct Overtaken: Error {}
