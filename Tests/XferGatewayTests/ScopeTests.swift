import JSONRPC
import NIOCore
import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferSystem

@testable import XferGateway

/// What tokens of each scope may call.
struct ScopeTests {
    private static let fields = RestrictedFields()

    private static func refusal(_ method: String, _ params: JSONValue?, _ scope: TokenScope) -> String? {
        ScopedService.refusal(of: method, params, scope: scope, fields)?.data?["reason"]?.stringValue
    }

    @Test(arguments: TokenScope.allCases)
    func eachScopeAllowsExactlyItsMethods(scope: TokenScope) {
        for method in MethodRegistry.all {
            let allowed: Bool =
                switch (scope, method.scope) {
                case (.operate, _), (.own, .read), (.own, .add), (.own, .own), (.read, .read), (.add, .add): true
                default: false
                }
            let name = method.name
            #expect((Self.refusal(name, [:], scope) == nil) == allowed, "\(scope.rawValue) calls \(name)")
        }
    }

    /// A new field that names a file or a hook is restricted by its declaration; this list shows which there are.
    @Test func fieldsThatNameFilesHooksAndWebhooksAreRestricted() {
        let add = [
            "body.file", "ca_file", "on_complete", "on_end", "on_error", "parts[].file", "post_process", "source",
        ]
        let batch = add.map { "batch.add: options.\($0)" }
        let found = Set(Self.fields.all)
        for path in add.map({ "task.add: \($0)" }) + batch + ["cache.put: file"] {
            #expect(found.contains(path), "\(path)")
        }
        for path in ["task.add: dir", "task.add: output", "batch.add: options.dir"] { #expect(!found.contains(path)) }
    }

    @Test(arguments: [TokenScope.add, .own])
    func aFileOfTheServerIsRefusedWhereverItIsNamed(scope: TokenScope) {
        let calls: [(String, JSONValue)] = [
            ("task.add", ["url": "http://a.example/", "kind": "upload", "source": "/etc/shadow"]),
            ("task.add", ["url": "http://a.example/", "body": ["file": "/etc/shadow"]]),
            (
                "task.add",
                ["url": "http://a.example/", "parts": [["name": "a", "text": "b"], ["name": "f", "file": "/x"]]]
            ),
            ("task.add", ["url": "http://a.example/", "on_complete": "notify"]),
            ("task.add", ["url": "http://a.example/", "on_end": ["deploy"]]),
            ("batch.add", ["tasks": [["url": "http://a.example/", "source": "/etc/shadow"]]]),
            ("batch.add", ["tasks": ["http://a.example/"], "options": ["source": "/etc/shadow"]]),
        ]
        for (method, params) in calls {
            #expect(Self.refusal(method, params, scope) == "scope", "\(method) \(params.text)")
            #expect(Self.refusal(method, params, .operate) == nil)
        }
        let plain: JSONValue = ["url": "http://a.example/", "dir": "/srv", "meta": ["source": "mine"]]
        #expect(Self.refusal("task.add", plain, scope) == nil, "the names within meta are the client's own")
    }

    /// A task that joins a slot cancels the one in it.
    @Test func aTokenThatMayOnlyAddNamesNoSlot() {
        let calls: [(String, JSONValue)] = [
            ("task.add", ["url": "http://a.example/", "slot": "banner"]),
            ("batch.add", ["tasks": ["http://a.example/", ["url": "http://b.example/", "slot": "x"]]]),
            ("batch.add", ["tasks": ["http://a.example/"], "options": ["slot": "x"]]),
        ]
        for (method, params) in calls {
            #expect(Self.refusal(method, params, .add) == "scope", "\(method) \(params.text)")
            for scope in [TokenScope.own, .operate] { #expect(Self.refusal(method, params, scope) == nil) }
        }
        let plain: JSONValue = ["url": "http://a.example/", "slot": nil, "meta": ["slot": "mine"]]
        #expect(Self.refusal("task.add", plain, .add) == nil)
    }

    @Test func metricsAndEventsAreForTheScopesThatReadThem() {
        let metrics = TokenScope.allCases.filter { RouteRules.allows($0, "/metrics") }
        #expect(metrics == [.metrics, .read, .own, .operate])
        #expect(TokenScope.allCases.filter { RouteRules.allows($0, "/events") } == [.read, .own, .operate])
        #expect(TokenScope.allCases.filter { RouteRules.allows($0, "/rpc") } == [.read, .add, .own, .operate])
    }

    @Test func onlyBearerTokensAreRead() {
        #expect(AccessGate.bearer("Bearer xfer_1") == "xfer_1")
        #expect(AccessGate.bearer("bearer  xfer_1 ") == "xfer_1")
        for field in ["Basic eDp5", "Bearer", "xfer_1", "", "Bearer "] { #expect(AccessGate.bearer(field) == nil) }
    }

    @Test func refusalsAreLoggedOnceAMinuteWithTheirCounts() {
        var summary = RefusalSummary()
        let start = MonotonicInstant(nanoseconds: 1_000_000_000)
        #expect(summary.add(.wrongToken, at: start) == [.wrongToken: 1])
        for second in 1...59 {
            let now = start.advanced(by: .seconds(second))
            #expect(summary.add(second % 2 == 0 ? .host : .wrongToken, at: now) == nil)
        }
        #expect(summary.add(.origin, at: start.advanced(by: .seconds(60))) == [.wrongToken: 30, .host: 29, .origin: 1])
    }
}

struct WebSocketLinesTests {
    private func line(_ text: String) -> String { String(buffer: WebSocketLines.line(ByteBuffer(string: text))) }

    @Test func aMessageOfSeveralLinesIsOneLine() {
        #expect(line("{\"a\":1}") == "{\"a\":1}\n")
        #expect(line("{\n\r\"a\": 1\n}") == "{  \"a\": 1 }\n")
        #expect(line("[\"\\\"\",\n1]") == "[\"\\\"\", 1]\n")
    }

    @Test func aLineBreakWithinAStringStaysAFault() throws {
        let fault = line("{\"a\":\"x\ny\"}")
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: Array(fault.utf8)) }
    }
}
