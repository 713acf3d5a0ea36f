import StrictJSON
import Testing
import XferModel

@testable import XferProtocol

@Suite struct SharingTests {
    private func fault<Value: WireValue>(_ type: Value.Type, _ json: JSONValue) -> WireError? {
        do throws(WireError) {
            _ = try Value(strict: json)
            return nil
        } catch {
            return error
        }
    }

    @Test func aSlotHasAShortPrintableName() throws {
        let longest = String(repeating: "x", count: 128)
        #expect(try NewTask(strict: ["url": "http://h/", "slot": .string(longest)]).slot == longest)
        #expect(try SlotGet.Params(strict: ["slot": .string(longest)]).slot == longest)
        for name in ["", longest + "x", String(repeating: "y", count: 10 << 20)] {
            let added = fault(NewTask.self, ["url": "http://h/", "slot": .string(name)])
            #expect(added?.path == "slot" && added?.reason == .outOfRange, "\(name.count)")
            let got = fault(SlotGet.Params.self, ["slot": .string(name)])
            #expect(got?.path == "slot" && got?.expected == "1 to 128 characters")
        }
        #expect(fault(NewTask.self, ["url": "http://h/", "slot": "a\nb"])?.reason == .invalidValue)
        #expect(fault(NewTask.self, ["url": "http://h/", "slot": 7])?.reason == .wrongType)
        #expect(fault(SlotGet.Params.self, [:])?.reason == .missing)
    }

    @Test func theSlotReachesTheTaskAndItsRecord() throws {
        let url = HTTPURL(scheme: .http, host: "h", port: 80, target: "/")
        let asked = try NewTask(strict: ["url": "http://h/", "slot": "avatar", "retry_failed": true])
        let made = asked.specification(
            owner: Owner(uid: 1), request: TransferRequest(url: url), defaults: TaskDefaults(directory: "/d"))
        #expect(made.slot == "avatar" && asked.retryFailed == true)
        let task = TransferTask(
            id: TaskID(1), specification: made, state: .queued, rank: 0, createdAt: Timestamp(seconds: 0))
        #expect(TaskRecord(task).wire["slot"] == "avatar")
    }

    @Test func failedURLsAreRemovedByIDsOrByURL() throws {
        #expect(try FailedURLRemove.Params(strict: ["ids": [1, 2]]).ids?.count == 2)
        #expect(try FailedURLRemove.Params(strict: ["url": "http://h/"]).url == "http://h/")
        #expect(fault(FailedURLRemove.Params.self, [:])?.reason == .missing)
        #expect(fault(FailedURLRemove.Params.self, ["ids": [1], "url": "http://h/"])?.path == "url")
        #expect(fault(FailedURLRemove.Params.self, ["ids": []])?.path == "ids")
        #expect(fault(FailedURLRemove.Params.self, ["ids": [0]])?.path == "ids[0]")
        #expect(fault(FailedURLList.Params.self, ["limit": 1001])?.path == "limit")
    }

    @Test func aFailedURLStatesWhenItMayBeRequestedAgain() {
        let entry = FailedURL(
            id: FailedURLID(3), url: "https://h/x?token=***", method: .get, owner: Owner(uid: 5), taskID: TaskID(9),
            error: TransferError(.httpStatus, "h answered 404", httpStatus: 404), failedAt: Timestamp(seconds: 60))
        let record = FailedURLRecord(entry, timeToLive: 60)
        #expect(record.wire["expires_at"] == "1970-01-01T00:02:00.000Z")
        #expect(record.wire["error"]?["http_status"] == 404)
    }

    @Test func beingSupersededIsATerminalEvent() {
        #expect(EventType.taskSuperseded.isTerminal)
        let event = Event(
            seq: 1, time: Timestamp(seconds: 0), taskID: TaskID(1), owner: Owner(uid: 0),
            payload: .taskSuperseded(by: TaskID(2)))
        let wire = EventMessage(event).wire
        #expect(wire["terminal"] == true && wire["state"] == "cancelled" && wire["by"] == 2)
        #expect(wire["type"] == "task.superseded")
    }

    /// More fields than a machine word has bits.
    @Test func aFieldSetDistinguishesMoreFieldsThanAWordHasBits() {
        var some = FieldSet()
        var all = FieldSet()
        for position in 0..<FieldSet.capacity {
            #expect(!all.contains(position))
            all.insert(position)
            if position != 100 { some.insert(position) }
        }
        #expect(all.first(notIn: some) == 100)
        #expect(some.first(notIn: all) == nil)
        #expect(!some.contains(100) && some.contains(127) && some.contains(0))
    }
}
