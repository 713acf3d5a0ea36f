import JSONRPC
import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferAria2
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferGateway

/// aria2's dialect at a real listener, in front of a service that keeps a few tasks.
struct Aria2Tests {
    @Test func aTokenInTheParametersIsEnough() async throws {
        try await GatewayWorld.with { world in
            let answer = try await world.aria2("aria2.getVersion", ["token:add"])
            #expect(answer.status == 200 && answer.object["result"]?["version"]?.stringValue != nil)
        }
    }

    @Test func aTokenInTheHeaderIsEnough() async throws {
        try await GatewayWorld.with { world in
            let answer = try await world.aria2("system.listMethods", [], header: "read")
            #expect(answer.object["result"]?.arrayValue?.contains("aria2.addUri") == true, "\(answer)")
        }
    }

    @Test func withoutATokenNothingIsAnsweredAndTheRefusalWaits() async throws {
        try await GatewayWorld.with { world in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for params in [[], ["token:guess"], ["token:"], ["token:metrics"]] as [JSONValue] {
                    for method in ["aria2.getVersion", "system.listMethods", "aria2.nothing"] {
                        group.addTask {
                            let begin = ContinuousClock.now
                            let answer = try await world.aria2(method, params)
                            #expect(answer.status == 400, "\(method) \(params.text)")
                            #expect(answer.object["error"] == ["code": 1, "message": "Unauthorized"])
                            #expect(ContinuousClock.now - begin >= .seconds(1))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(world.refusals.withLockedValue { $0[.wrongToken] } == 6)
        }
    }

    @Test func aMessageOfAStrangerIsBounded() async throws {
        try await GatewayWorld.with { world in
            let long = String(repeating: "x", count: Aria2Facade.maxMessageBytes)
            let reply = try await world.aria2("aria2.getVersion", ["token:add", .string(long)])
            #expect(reply.status == 413, "\(reply)")
        }
    }

    @Test func faultsHaveTheStatusesOfAria2() async throws {
        try await GatewayWorld.with { world in
            let unknown = try await world.aria2("aria2.nothing", ["token:own"])
            #expect(unknown.status == 400 && unknown.object["error"]?["message"] == "No such method: aria2.nothing")
            #expect(try await world.aria2(text: "{").status == 500)
            #expect(try await world.aria2(text: #"{"method":"aria2.getVersion"}"#).status == 400)
            #expect(try await world.aria2(text: #"{"id":1,"method":"aria2.getVersion","params":{}}"#).status == 500)
            let answer = try await world.exchange(GatewayWorld.get("/jsonrpc?method=aria2.getVersion", token: "own"))
            #expect(answer.hasPrefix("HTTP/1.1 405"), "GET changes nothing, and there is no JSONP")
        }
    }

    @Test func aBatchIsAnsweredWholeWithItsFaults() async throws {
        try await GatewayWorld.with { world in
            let batch = #"[{"id":1,"method":"aria2.getVersion","params":["token:own"]},7]"#
            let answer = try await world.aria2(text: batch)
            #expect(answer.status == 200 && answer.object.arrayValue?.count == 2)
            #expect(answer.object.arrayValue?.last?["error"]?["code"]?.integerValue == -32600)
        }
    }

    @Test func eachCallOfAMulticallHasATokenOfItsOwn() async throws {
        try await GatewayWorld.with { world in
            let calls: JSONValue = [
                ["methodName": "aria2.saveSession", "params": ["token:own"]],
                ["methodName": "aria2.saveSession", "params": ["token:guess"]],
                ["methodName": "system.multicall", "params": [[]]],
                ["params": []],
            ]
            let answer = try await world.aria2("system.multicall", [calls])
            let results = try #require(answer.object["result"]?.arrayValue, "\(answer)")
            #expect(answer.status == 200 && results.first == ["OK"] && results.count == 4)
            #expect(results[1]["message"] == "Unauthorized" && results[1]["code"] == 1)
            #expect(results[2]["message"] == "Recursive system.multicall forbidden.")
        }
    }

    @Test func theScopeOfTheTokenHolds() async throws {
        try await GatewayWorld.with { world in
            let calls: [(String, JSONValue, String)] = [
                ("aria2.tellActive", [], "add"), ("aria2.pauseAll", [], "read"), ("aria2.shutdown", [], "own"),
                ("aria2.changeGlobalOption", [["max-overall-download-limit": "1M"]], "own"),
                ("aria2.changeGlobalOption", [["file-allocation": "none"]], "own"),
                ("aria2.addUri", [["http://a.test/"]], "read"), ("aria2.purgeDownloadResult", [], "read"),
            ]
            for (method, params, scope) in calls {
                let answer = try await world.aria2(
                    method, .array([.string("token:\(scope)")] + (params.arrayValue ?? [])))
                let message = answer.object["error"]?["message"]?.stringValue ?? ""
                #expect(answer.status == 400 && message.contains("scope"), "\(method): \(answer)")
            }
        }
    }

    /// Settings come in the form of the configuration file, in which a path is quoted.
    @Test(arguments: [("\"/srv/a b\"", "/srv/a b"), ("/srv/plain", "/srv/plain")])
    func theDirectoryOfTheGlobalOptionsIsAPlainPath(text: String, path: String) async throws {
        let world = try await GatewayWorld(service: ConfiguredService(directory: text))
        let answer = try await world.aria2("aria2.getGlobalOption", ["token:operate"])
        #expect(answer.object["result"]?["dir"] == .string(path), "\(answer)")
        await world.gateway.shutdown(grace: .zero)
    }

    @Test func torrentsAndMetalinksAreRefusedWithTheReason() async throws {
        try await GatewayWorld.with { world in
            for method in ["aria2.addTorrent", "aria2.addMetalink"] {
                let answer = try await world.aria2(method, ["token:own", "AAAA"])
                #expect(answer.object["error"]?["message"]?.stringValue?.contains("not supported") == true)
            }
        }
    }

    @Test func xmlCallsAreAnsweredInXML() async throws {
        try await GatewayWorld.with { world in
            func post(_ token: String) async throws -> String {
                let body =
                    "<?xml version='1.0'?><methodCall><methodName>aria2.saveSession</methodName><params><param>"
                    + "<value><string>token:\(token)</string></value></param></params></methodCall>"
                return try await world.exchange(
                    "POST /aria2/rpc HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
            let (good, bad) = (try await post("own"), try await post("guess"))
            #expect(good.contains("<value><string>OK</string></value>"), "\(good)")
            #expect(bad.contains("<fault>"), "\(bad)")
        }
    }
}

/// Answers `daemon.config` with a value of `download.dir`.
private struct ConfiguredService: RPCService {
    let directory: String

    func respond(
        to method: String, params: JSONValue?, on connection: RPCConnection
    ) async throws(RPCError) -> RPCResult {
        let setting = DaemonConfig.Setting(
            key: "download.dir", value: .string(directory), origin: "default", reloadable: true)
        return .value(DaemonConfig.Result(file: nil, settings: [setting]).wire)
    }
}

extension GatewayWorld {
    struct Aria2Reply: Sendable {
        let status: Int
        let object: JSONValue
    }

    /// The answer to one call.
    func aria2(_ method: String, _ params: JSONValue, header: String? = nil) async throws -> Aria2Reply {
        let message: JSONValue = ["jsonrpc": "2.0", "id": "q", "method": .string(method), "params": params]
        return try await aria2(text: message.text, header: header)
    }

    func aria2(text: String, header: String? = nil) async throws -> Aria2Reply {
        let authorization = header.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let answer = try await exchange(
            "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\n\(authorization)Connection: close\r\n"
                + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
        let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
        let status = Int(answer.dropFirst("HTTP/1.1 ".count).prefix(3)) ?? 0
        return Aria2Reply(status: status, object: try JSONValue(parsing: Array((parts.last ?? "").utf8)))
    }
}
