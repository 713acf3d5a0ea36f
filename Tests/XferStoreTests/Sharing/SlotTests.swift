import Testing
import XferModel

@testable import XferStore

@Suite struct SlotTests {
    private static func inSlot(_ slot: String?, owner: UInt32 = 1000) -> TaskSpecification {
        var asked = specification(owner: owner)
        asked.slot = slot
        return asked
    }

    /// The index and the rule say the same of every state.
    @Test(arguments: TaskState.allCases) func unfinishedTasksAreFoundInTheirSlot(state: TaskState) async throws {
        try await withStore { store in
            try await store.write { tx in
                let id = try tx.tasks.insert(Self.inSlot("a"), state: .queued, at: noon).id
                _ = try tx.tasks.insert(Self.inSlot("b"), state: .queued, at: noon)
                _ = try tx.tasks.insert(Self.inSlot("a", owner: 1001), state: .queued, at: noon)
                _ = try tx.tasks.insert(Self.inSlot(nil), state: .queued, at: noon)
                try tx.setState(state, of: id)
                let found = try tx.tasks.list(inSlot: "a", of: Owner(uid: 1000)).map(\.id)
                #expect(found == (state.isTerminal ? [] : [id]))
                #expect(try tx.tasks.find(id)?.specification.slot == "a")
            }
        }
    }

    @Test func aTaskCanBeDetachedFromItsSlot() async throws {
        try await withStore { store in
            try await store.write { tx in
                var task = try tx.tasks.insert(Self.inSlot("a"), state: .queued, at: noon)
                task.specification.slot = nil
                try tx.tasks.update(task)
                #expect(try tx.tasks.list(inSlot: "a", of: Owner(uid: 1000)).isEmpty)
                #expect(try tx.tasks.find(task.id) == task)
            }
        }
    }

    @Test func endedTasksAreListedByTheirSlots() async throws {
        try await withStore { store in
            try await store.write { tx in
                for slot in ["a", "b", "c"] { _ = try tx.tasks.insert(Self.inSlot(slot), state: .queued, at: noon) }
                try tx.setState(.cancelled, of: TaskID(1), finishedAt: noon)
            }
            let page = try await store.read { try $0.tasks.list(TaskQuery(slots: ["a", "c"]), limit: 10) }
            #expect(page.tasks.map(\.id.rawValue) == [3, 1])
        }
    }

    /// The slot is part of what was asked for; a row of before there were slots keeps its fingerprint.
    @Test func anAddWithAnotherSlotIsNotARepeatedAdd() async throws {
        try await withStore { store in
            var asked = specification(clientKey: "k")
            let plain = asked
            asked.slot = "a"
            let slotted = asked
            try await store.write { tx in
                _ = try tx.tasks.insert(slotted, state: .queued, at: noon)
                #expect(try tx.tasks.earlierAdd(of: slotted)?.isSameRequest == true)
                #expect(try tx.tasks.earlierAdd(of: plain)?.isSameRequest == false)
            }
        }
    }
}
