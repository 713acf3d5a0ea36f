import CCrash
import Glibc
import NIOConcurrencyHelpers
import XferModel

/// The tasks that a crash would be laid to: those that run, and those whose start is being decided or committed.
///
/// They lie in memory that the handler of a fatal signal can read at any moment. There are twice as many slots as tasks
/// can run by the highest `queue.max_active` with all that are being published. Tasks beyond that, which joined others'
/// transfers, have none: if one of them is the culprit, it gets a slot once those that have one are suspects.
///
/// `@unchecked Sendable`: slots are changed by atomic stores only, under `state`'s lock, and read by atomic loads.
final class InFlightTasks: @unchecked Sendable {
    static let capacity = 4096

    private let slots: UnsafeMutablePointer<Int64>
    private let state = NIOLockedValueBox(State())

    private struct State {
        var slotByTask: [TaskID: Int] = [:]
        var free: [Int] = []
        /// Slots that were never taken begin here.
        var unused = 0
        /// Tasks of the scheduling pass under way, which may turn out not to start.
        var undecided: Set<TaskID> = []
    }

    init() {
        slots = .allocate(capacity: Self.capacity)
        slots.initialize(repeating: 0, count: Self.capacity)
    }

    deinit { slots.deallocate() }

    /// The tasks that have a slot.
    var tasks: Set<TaskID> { state.withLockedValue { Set($0.slotByTask.keys) } }

    /// The scheduling pass under way looks at the task, and may start it.
    func consider(_ task: TaskID) {
        state.withLockedValue { state in
            if enter(task, &state) { state.undecided.insert(task) }
        }
    }

    /// The task runs from now on.
    func launch(_ task: TaskID) {
        state.withLockedValue { state in
            _ = enter(task, &state)
            state.undecided.remove(task)
        }
    }

    /// The task's run has ended, or the task is not going to start.
    func leave(_ task: TaskID) {
        state.withLockedValue { state in
            leave(task, &state)
            state.undecided.remove(task)
        }
    }

    /// The scheduling pass is over: what it looked at and did not start is not in flight.
    func endPass() {
        state.withLockedValue { state in
            for task in state.undecided { leave(task, &state) }
            state.undecided = []
        }
    }

    /// Does something for a task that may not run.
    func during<Answer>(_ task: TaskID, _ body: () throws -> Answer) rethrows -> Answer {
        let isNew = state.withLockedValue { enter(task, &$0) }
        defer { if isNew { leave(task) } }
        return try body()
    }

    private func enter(_ task: TaskID, _ state: inout State) -> Bool {
        guard state.slotByTask[task] == nil else { return false }
        let slot: Int
        if let free = state.free.popLast() {
            slot = free
        } else {
            guard state.unused < Self.capacity else { return false }
            slot = state.unused
            state.unused += 1
        }
        state.slotByTask[task] = slot
        xfer_crash_store(slots + slot, task.rawValue)
        return true
    }

    private func leave(_ task: TaskID, _ state: inout State) {
        guard let slot = state.slotByTask.removeValue(forKey: task) else { return }
        xfer_crash_store(slots + slot, 0)
        state.free.append(slot)
    }

    /// From now on a fatal signal writes them to `descriptor`. To be called once in a process; they are never freed then,
    /// and the descriptor has to stay open.
    ///
    /// - Returns: an errno when the system refuses, else nil.
    func record(to descriptor: Int32) -> Int32? {
        let words = UnsafeMutablePointer<Int64>.allocate(
            capacity: CrashRecord.byteCount(tasks: Self.capacity) / MemoryLayout<Int64>.size)
        _ = Unmanaged.passRetained(self)
        return xfer_crash_record_to(descriptor, slots, Int32(clamping: Self.capacity), words) ? nil : errno
    }
}
