import StrictJSON
import Testing
import XferModel

@testable import XferDaemon
@testable import XferFleet
@testable import XferProtocol

/// What of a task a fleet takes from whom.
struct FleetAdmissionTests {
    private static func caller(isOperator: Bool) -> FleetCaller {
        FleetCaller(
            Caller(
                peer: Peer(uid: 4242, gid: 4242, groups: []), isOperator: isOperator, roots: ["/srv"], maxTasks: 3,
                maxPriority: .normal))
    }

    private static func task(_ fields: JSONObject) throws -> NewTask {
        var all: JSONObject = ["url": "http://example.org/a"]
        for (name, value) in fields.members { all[name] = value }
        return try NewTask(wire: .object(all), mode: .strict)
    }

    @Test(
        arguments: [
            ["resolve": ["example.org:80:192.0.2.7"]], ["connect_to": ["example.org:80:node3.example.net:8080"]],
            ["interface": "eth1"], ["ip_version": "4"], ["owner": "ada"],
        ] as [JSONObject])
    func fieldsOfOperatorsAreRefusedForGuestsAtTheAdd(fields: JSONObject) throws {
        let admission = FleetAdmission(node: "a")
        let task = try Self.task(fields)
        let name = try #require(fields.members.first?.key)
        let failure = #expect(throws: RPCFailure.self) {
            try admission.admit(task, at: nil, for: Self.caller(isOperator: false), path: "tasks[2].")
        }
        #expect(failure?.knownCode == .permissionDenied && failure?.data?.path == "tasks[2]." + name)
        _ = try admission.admit(task, at: nil, for: Self.caller(isOperator: true))
    }

    @Test func aTaskOfTheLargestSizeIsTakenAndALongerOneIsNot() throws {
        let admission = FleetAdmission(node: "a")
        func admit(_ length: Int) throws {
            let body: JSONValue = ["json": .string(String(repeating: "x", count: length))]
            let task = try Self.task(["kind": "data", "method": "POST", "body": body])
            _ = try admission.admit(task, at: nil, for: Self.caller(isOperator: true))
        }
        try admit(FleetAdmission.largestTask - 1000)
        #expect(throws: RPCFailure.self) { try admit(FleetAdmission.largestTask) }
    }
}
