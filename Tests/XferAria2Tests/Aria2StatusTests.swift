import StrictJSON
import Testing
import XferModel
import XferProtocol

@testable import XferAria2

/// A task as aria2 shows it.
struct Aria2StatusTests {
    private static let seed = Aria2Seed(storeID: "5f0c6a52c8e94d0b")

    private static func record(_ state: TaskState) -> TaskRecord {
        var record = TaskRecord()
        record.id = TaskID(17)
        record.state = OpenEnum(state)
        record.url = "http://a.test/big.iso"
        record.dir = "/srv"
        record.progress = ProgressRecord(received: 3_000_000, total: 4_194_305, rate: 1000)
        record.progress?.connections = 4
        return record
    }

    private static func object(_ record: TaskRecord) -> JSONValue {
        Aria2Status(record, seed: seed).object(Set(Aria2Status.Key.allCases))
    }

    @Test func allNumbersAreStrings() {
        let object = Self.object(Self.record(.running))
        let expected = [
            "status": "active", "totalLength": "4194305", "completedLength": "3000000", "uploadLength": "0",
            "downloadSpeed": "1000", "uploadSpeed": "0", "numPieces": "5", "pieceLength": "1048576",
            "connections": "4", "dir": "/srv",
        ]
        for (key, value) in expected { #expect(object[key]?.stringValue == value, "\(key)") }
        #expect(object["errorCode"] == nil && object["errorMessage"] == nil)
        let file = object["files"]?.arrayValue?.first
        #expect(file?["path"] == "" && file?["length"] == "4194305" && file?["selected"] == "true")
        #expect(file?["uris"] == [["uri": "http://a.test/big.iso", "status": "used"]])
    }

    @Test func aFailureHasItsNumberAndMessage() {
        var record = Self.record(.failed)
        record.error = FailureRecord(TransferError(.httpStatus, "a.test answered 404", httpStatus: 404))
        let object = Self.object(record)
        #expect(object["status"] == "error" && object["errorCode"] == "3")
        #expect(object["errorMessage"] == "a.test answered 404" && object["downloadSpeed"] == "0")
        #expect(Self.object(Self.record(.cancelled))["errorCode"] == "31")
        #expect(object["connections"] == "0")
    }

    @Test func aCompletedFileHasItsPublishedPath() {
        var record = Self.record(.completed)
        record.finalPath = "/srv/sub/big (1).iso"
        let object = Self.object(record)
        #expect(object["dir"] == "/srv/sub" && object["errorCode"] == "0")
        #expect(object["files"]?.arrayValue?.first?["path"] == "/srv/sub/big (1).iso")
    }

    @Test func unknownLengthsAndFalseOnesAreZero() {
        var record = Self.record(.running)
        record.progress = ProgressRecord(received: -5, total: nil, rate: -1)
        let object = Self.object(record)
        #expect(object["totalLength"] == "0" && object["completedLength"] == "0" && object["downloadSpeed"] == "0")
        record.progress = ProgressRecord(received: .max, total: .max, rate: .max)
        #expect(Self.object(record)["numPieces"] == "8796093022208")
    }

    @Test func onlyTheKeysThatAreAskedForAreThere() {
        let status = Aria2Status(Self.record(.running), seed: Self.seed)
        #expect(status.object([.gid]) == ["gid": .string(status.gid.description)])
        for key in Aria2Status.Key.allCases {
            #expect(Aria2Status.Key.columns(for: [key]).fields != .listing, "\(key)")
        }
    }

    @Test func notificationsFollowFromEvents() {
        func notification(_ payload: EventPayload) -> Aria2Notification? {
            Aria2Notification(
                EventMessage(
                    Event(
                        seq: 1, time: Timestamp(seconds: 0), taskID: TaskID(1), owner: Owner(uid: 1), payload: payload))
            )
        }
        #expect(notification(.taskStarted(attempt: 1, offset: 0)) == .start)
        #expect(notification(.taskPaused(received: 0)) == .pause)
        #expect(notification(.taskCancelled) == .stop)
        #expect(notification(.taskSuperseded(by: TaskID(2))) == .stop)
        #expect(notification(.taskFailed(error: TransferError(.diskError, "x"))) == .error)
        #expect(
            notification(.taskCompleted(path: nil, size: 0, skipped: false, notModified: false)) == .complete)
        #expect(notification(.taskResumed) == nil && notification(.taskRemoved) == nil)
    }
}
