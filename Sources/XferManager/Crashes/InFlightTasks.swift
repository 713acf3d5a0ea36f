import CCrash
import Glibc
import NIOConcurrencyHelpers
import XferModel

/// The tasks that a crash is attributed to: those that run, and those whose start is being decided or committed.
///
/// They are in memory that the handler of a fatal signal can read at any moment. There are twice as many slots as tasks
/// can run with the highest `queue.max_active` and all that are being published. Tasks beyond that, which joined other
/// tasks' transfers, have no slot: if one of them causes the crash, it gets a slot once the tasks with slots have
/// become suspects.
///
/// `@unchecked Sendable`: slots are changed by atomic stores only, under `state`'s lock, and read by atomic loads.
final class InFlightTasks: @unchecked Sendable {
    static let capacity = 4096

    private let slots: UnsafeMutablePointer<Int64>
    private let state = NIOLockedValueBox(State())

    private struct State {
        var slotByTask: [TaskID: Int] = [:]
        var free: [Int] = []
        /// The first slot that was never used.
        var unused = 0
        /// Tasks of the current scheduling pass that may not start after all.
        var undecided: Set<TaskID> = []
    }

    init() {
        slots = .allocate(capacity: Self.capacity)
        slots.initialize(repeating: 0, count: Self.capacity)
    }

    deinit { slots.deallocate() }

    /// The tasks that have a slot.
    var tasks: Set<TaskID> { state.withLockedValue { Set($0.slotByTask.keys) } }

    /// Adds a task that the current scheduling pass checks and may start.
    func consider(_ task: TaskID) {
        state.withLockedValue { state in
            if enter(task, &state) { state.undecided.insert(task) }
        }
    }

    /// Adds a task that runs from now on.
    func launch(_ task: TaskID) {
        state.withLockedValue { state in
            _ = enter(task, &state)
            state.undecided.remove(task)
        }
    }

    /// Removes a task whose run has ended, or that will not start.
    func leave(_ task: TaskID) {
        state.withLockedValue { state in
            leave(task, &state)
            state.undecided.remove(task)
        }
    }

    /// Removes tasks that the ended scheduling pass checked and did not start.
    func endPass() {
        state.withLockedValue { state in
            for task in state.undecided { leave(task, &state) }
            state.undecided = []
        }
    }

    /// Runs `body` with the task in flight, even if it has no run.
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

    /// Makes a fatal signal write the slots to `descriptor` from now on. Call it once in a process: the slots are never
    /// freed then, and the descriptor has to stay open.
    ///
    /// - Returns: an errno if the system refuses, else nil.
    func record(to descriptor: Int32) -> Int32? {
        let words = UnsafeMutablePointer<Int64>.allocate(
            capacity: CrashRecord.byteCount(tasks: Self.capacity) / MemoryLayout<Int64>.size)
        _ = Unmanaged.passRetained(self)
        return xfer_crash_record_to(descriptor, slots, Int32(clamping: Self.capacity), words) ? nil : errno
    }
}
