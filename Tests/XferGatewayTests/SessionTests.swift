import JSONRPC
import StrictJSON
import Testing
import XferModel
import XferSystem
import XferTestSupport

@testable import XferGateway

/// What stands for a token in a browser: tickets, and cookies over TLS.
struct SessionTests {
    @Test func aTicketIsGoodForOneDownloadOfItsFile() async throws {
        try await GatewayWorld.with { world in
            func ticket() async throws -> String {
                let answer = try await world.exchange(Self.post("/tickets", #"{"task":17}"#, token: "read"))
                let start = try #require(answer.firstRange(of: "/files/17?ticket="), "\(answer)")
                return String(answer[start.lowerBound...].prefix { $0 != "\"" })
            }
            let path = try await ticket()
            #expect(try await world.exchange(GatewayWorld.get(path, token: nil)).hasSuffix("the file /files/17\n"))
            #expect(try await world.exchange(GatewayWorld.get(path, token: nil)).hasPrefix("HTTP/1.1 401 "))
            let other = try await ticket().replacing("/files/17", with: "/files/18")
            #expect(try await world.exchange(GatewayWorld.get(other, token: nil)).hasPrefix("HTTP/1.1 401 "))
        }
    }

    @Test func aTicketEndsWithItsToken() async throws {
        try await GatewayWorld.with { world in
            let answer = try await world.exchange(Self.post("/tickets", #"{"task":17}"#, token: "read"))
            let start = try #require(answer.firstRange(of: "/files/17?ticket="), "\(answer)")
            _ = world.tokens.remove(.read)
            let path = String(answer[start.lowerBound...].prefix { $0 != "\"" })
            #expect(try await world.exchange(GatewayWorld.get(path, token: nil)).hasPrefix("HTTP/1.1 401 "))
        }
    }

    @Test(
        arguments: [
            ("{}", "400"), (#"{"task":0}"#, "400"), (#"{"task":"17"}"#, "400"), ("no JSON", "400"), ("", "400"),
        ])
    func aFaultyRequestForATicketIsRefused(body: String, status: String) async throws {
        try await GatewayWorld.with { world in
            let answer = try await world.exchange(Self.post("/tickets", body, token: "read"))
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        }
    }

    @Test func aTokenThatMayNotReadGetsNoTicket() async throws {
        try await GatewayWorld.with { world in
            let answer = try await world.exchange(Self.post("/tickets", #"{"task":17}"#, token: "add"))
            #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(answer)")
        }
    }

    @Test func withoutTLSThereIsNoSession() async throws {
        try await GatewayWorld.with { world in
            let answer = try await world.exchange(Self.post("/session", "", token: "own"))
            #expect(answer.hasPrefix("HTTP/1.1 403 ") && !answer.contains("Set-Cookie"), "\(answer)")
        }
    }

    @Test(
        arguments: [
            ("GET", "/events", [], true), ("GET", "/events", ["sec-fetch-site: same-origin"], true),
            ("GET", "/events", ["sec-fetch-site: same-site"], false),
            ("GET", "/events", ["sec-fetch-site: cross-site"], false),
            ("GET", "/files/1", ["sec-fetch-site: none"], true),
            ("GET", "/events", ["origin: https://xfer.example"], true),
            ("GET", "/events", ["origin: https://xfer.example:8443"], false),
            ("GET", "/ws", [], false), ("GET", "/ws", ["origin: https://xfer.example"], true),
            ("GET", "/ws", ["origin: null"], false),
            ("GET", "/jsonrpc", ["upgrade: websocket", "connection: Upgrade"], false), ("GET", "/jsonrpc", [], false),
            ("GET", "/jsonrpc", ["upgrade: websocket", "origin: https://xfer.example"], true),
            ("GET", "/events", ["upgrade: websocket"], false),
            ("POST", "/rpc", [], false), ("POST", "/rpc", ["origin: https://xfer.example"], true),
            ("POST", "/rpc", ["origin: https://ui.example"], false),
            ("POST", "/rpc", ["origin: https://xfer.example", "sec-fetch-site: cross-site"], false),
        ] as [(String, String, [String], Bool)])
    func aCookieCountsOnlyForTheListenersOwnPage(method: String, path: String, fields: [String], isAdmitted: Bool) {
        let rules = BrowserRules(
            ListenerConfiguration(
                address: ListenAddress(host: "0.0.0.0", port: 443), tls: .init(certificate: "/c", key: "/k"),
                hosts: ["xfer.example"], origins: ["https://ui.example"]))
        let headers = (fields + ["host: xfer.example"]).map { field in
            let parts = field.split(separator: ": ").map(String.init)
            return (name: parts[0], value: parts[1])
        }
        let request = HTTPRequest(method: method, path: path, query: nil, headers: headers)
        #expect(rules.admitsCookie(request) == isAdmitted)
        let plain = BrowserRules(ListenerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 80)))
        #expect(!plain.admitsCookie(request))
    }

    @Test(
        arguments: [
            ("__Host-xfer=abc", "abc"), ("a=1; __Host-xfer=abc; b=2", "abc"), ("__host-xfer=abc", nil),
            ("x__Host-xfer=abc", nil), ("__Host-xfer", nil), ("", nil),
        ] as [(String, String?)])
    func theCookieIsFoundByItsName(field: String, secret: String?) {
        let request = HTTPRequest(method: "GET", path: "/", query: nil, headers: [(name: "Cookie", value: field)])
        #expect(BrowserSessions.cookie(in: request) == secret)
    }

    @Test func secretsEndAfterTheirLifetimeAndTheOldestOfATokenGoFirst() {
        var now = MonotonicInstant(nanoseconds: 1)
        var entries = SecretEntries<String>(lifetime: .seconds(30))
        entries.insert("first", "/files/1", tokenID: 1, now: now)
        #expect(entries.tokenID(of: "first", "/files/1", now: now) == 1)
        #expect(entries.tokenID(of: "first", "/files/2", now: now) == nil)
        entries.insert("other", "/files/1", tokenID: 2, now: now)
        for number in 0..<SecretEntries<String>.maxPerToken {
            now = now.advanced(by: .milliseconds(1))
            entries.insert("more \(number)", "/files/1", tokenID: 1, now: now)
        }
        #expect(entries.tokenID(of: "first", "/files/1", now: now) == nil)
        #expect(entries.tokenID(of: "more 0", "/files/1", now: now) == 1)
        #expect(entries.tokenID(of: "other", "/files/1", now: now) == 2)
        now = now.advanced(by: .seconds(30))
        #expect(entries.tokenID(of: "more 99", "/files/1", now: now) == nil)
        entries.insert("last", "/files/1", tokenID: 1, now: now)
        #expect(entries.count == 1)
    }

    private static func post(_ path: String, _ body: String, token: String) -> String {
        "POST \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\nConnection: close\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}
