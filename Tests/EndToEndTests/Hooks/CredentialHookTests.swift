import StrictJSON
import Testing
import XferTestSupport

/// A profile's `credential_hook`.
@Suite struct CredentialHookTests {
    /// A server that takes one token, a file with the token that the daemon sends, and a hook.
    private func withRenewal(
        _ script: String, body: (DaemonFixture, FaultServer, _ runs: () throws -> Int) async throws -> Void
    ) async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(30, length: 300_000)
        server.onAnyOther { request in
            guard request.header("Authorization") == "Bearer fresh" else {
                return Reply(401, headers: [], text: "expired")
            }
            return source.honestReply(to: request)
        }
        let directory = try TemporaryDirectory("tokens")
        let (token, log, hook) = (directory.file("token"), directory.file("log"), directory.file("hook"))
        try FileTree.write("stale", to: token, mode: 0o600)
        try FileTree.write("", to: log)
        let text = script.replacing("TOKEN", with: token)
        try FileTree.write("#!/bin/sh\necho \"$XFER_PROFILE\" >> \(log)\n\(text)\n", to: hook, mode: 0o755)
        let options = DaemonFixture.Options(settings: ["hooks": ["renew": "{argv: [\"\(hook)\"]}"]])
        try await withDaemon(options) { daemon in
            let profile: JSONObject = [
                "name": "api", "base_url": .string(server.url("/")), "credential_hook": "renew",
                "credential": ["scheme": "bearer", "secret": ["file": .string(token)]],
            ]
            _ = try await daemon.call("profile.set", ["profile": .object(profile)])
            try await body(daemon, server) { try FileTree.text(log).split(separator: "\n").count }
        }
    }

    @Test func aRefusedCredentialIsRenewedOnceForAllTasksOfAProfile() async throws {
        try await withRenewal("printf fresh > TOKEN") { daemon, server, runs in
            var ids: [Int64] = []
            for index in 0..<4 {
                ids.append(try await daemon.add("d\(index)", ["profile": "api", "kind": "data"]))
                ids.append(try await daemon.add("f\(index)", ["profile": "api"]))
            }
            for id in ids { try await daemon.complete(id) }
            #expect(try runs() == 1)
            #expect(server.requests.allSatisfy { $0.header("Authorization")?.hasPrefix("Bearer ") == true })
        }
    }

    @Test func aHookThatRenewsNothingIsNotRunAgainForTheSameSecret() async throws {
        try await withRenewal("true") { daemon, server, runs in
            for index in 0..<2 {
                let id = try await daemon.add("f\(index)", ["profile": "api", "coalesce": false])
                try await daemon.fails(id, "auth_failed")
            }
            #expect(try runs() == 1)
            #expect(server.requests.count == 2, "without another secret no request is repeated")
        }
    }

    @Test func anUnknownHookIsRefused() async throws {
        try await withDaemon { daemon in
            let refusal = try await daemon.refusal(
                "profile.set", ["profile": ["name": "api", "credential_hook": "nobody"]])
            #expect(refusal?.path == "profile.credential_hook" || refusal?.path == "credential_hook")
        }
    }
}
