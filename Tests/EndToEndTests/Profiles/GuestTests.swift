import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// What a user who is no operator may do with profiles, secrets and files to send.
@Suite(.enabled(if: Guest.isPossible, "needs root and setpriv")) struct GuestTests {
    private func server() async throws -> FaultServer {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        return server
    }

    @Test func onlyOperatorsWriteProfilesAndEveryUserMayNameThem() async throws {
        let (home, elsewhere) = (try await server(), try await server())
        try await withGuest { daemon, guest in
            try await daemon.setProfile([
                "name": "api", "base_url": .string(home.url("/")), "headers": ["X-Env": "one"],
                "credential": ["scheme": "bearer", "secret": "t0ken"],
            ])
            for (method, params) in [
                ("profile.list", [:]), ("profile.get", ["name": "api"]), ("profile.remove", ["name": "api"]),
                ("profile.set", ["profile": ["name": "mine"]]),
            ] as [(String, JSONValue)] {
                let answer = try await guest.call(method, params)
                #expect(answer.result == nil && answer.error.contains("for operators only"), "\(method): \(answer)")
            }
            // It may be used, and shows its secret to its own origin only.
            let near = try await guest.add(["url": "a", "profile": "api", "kind": "data"])
            let far = try await guest.add(["url": .string(elsewhere.url("/a")), "profile": "api", "kind": "data"])
            for id in [near, far] { try await daemon.complete(id) }
            #expect(home.requests.map { $0.header("Authorization") } == ["Bearer t0ken"])
            #expect(elsewhere.requests.map { $0.header("Authorization") } == [nil])
            #expect(elsewhere.requests.first?.header("X-Env") == "one")
            #expect(try await guest.call("task.get", ["id": .integer(near)]).result?.text.contains("t0ken") == false)

            let credentials: [JSONObject] = [
                ["credential": ["scheme": "bearer", "secret": ["file": "/etc/hostname"]]],
                ["credential": ["scheme": "bearer", "secret": ["env": "HOME"]]],
                ["credential": ["scheme": "netrc", "secret": ["file": "/root/.netrc"]]],
                ["client_cert": ["certificate": "/etc/c.pem", "key": "/etc/k.pem"]],
            ]
            for fields in credentials {
                var params = fields
                params["url"] = .string(home.url("/b"))
                let answer = try await guest.call("task.add", .object(params))
                #expect(answer.result == nil && answer.error.contains("operators"), "\(params): \(answer)")
            }
            #expect(home.requests(to: "/b").isEmpty)
        }
    }

    /// Every field of a task that could lead a profile's secret to another server.
    @Test func aGuestsTaskCannotRedirectAProfilesSecretsElsewhere() async throws {
        let (home, own) = (try await server(), try await server())
        let proxy: JSONValue = .string("http://127.0.0.1:\(own.port)")
        try await withGuest { daemon, guest in
            try await daemon.setProfile([
                "name": "api", "base_url": .string(home.url("/")), "headers": ["X-Api-Key": "k3y"], "cookies": "jar",
                "header_rules": [["set": ["Authorization": "r01e"]]],
                "credential": ["scheme": "bearer", "secret": "t0ken"],
            ])
            try await daemon.setProfile([
                "name": "shared", "base_url": .string(home.url("/")),
                "credential": ["scheme": "bearer", "secret": "t0ken"],
            ])
            let refused: [(fields: JSONObject, field: String)] = [
                (["proxy": proxy], "proxy"), (["proxy": ["url": proxy]], "proxy"),
                (["headers": ["Host": "evil.example"]], "headers"),
                (["proxy": proxy, "credential": .null, "cookies": .null], "proxy"),
            ]
            for profile in ["api", "shared"] {
                for (fields, field) in refused where profile == "api" || fields["credential"] == nil {
                    var params = fields
                    params["url"] = "a"
                    params["profile"] = .string(profile)
                    params["kind"] = "data"
                    let answer = try await guest.call("task.add", .object(params))
                    #expect(answer.result == nil && answer.error.contains(field), "\(params): \(answer)")
                }
            }
            // Neither by the URL, nor by one beside it, nor by one that takes its place.
            var ids: [Int64] = []
            for url in [own.url("/x"), "//127.0.0.1:\(own.port)/x"] {
                ids.append(try await guest.add(["url": .string(url), "profile": "api", "kind": "data"]))
            }
            ids.append(
                try await guest.add([
                    "urls": [.string(own.url("/x")), .string(home.url("/x"))], "profile": "api",
                    "dir": .string(guest.root),
                ]))
            let moved = try await guest.add(["url": "m", "profile": "api", "dir": .string(guest.root), "paused": true])
            let answer = try await guest.call(
                "task.set_source", ["id": .integer(moved), "url": .string(own.url("/m"))])
            #expect(answer.result != nil, "\(answer.error)")
            _ = try await guest.call("task.resume", ["ids": [.integer(moved)]])
            let later = try await guest.add(["url": "l", "profile": "shared", "kind": "data", "paused": true])
            let update = try await guest.call(
                "task.update", ["id": .integer(later), "headers": ["Host": "evil.example"]])
            #expect(update.result == nil && update.error.contains("headers"), "\(update)")
            for id in ids + [moved] { try await daemon.complete(id) }
            #expect(!own.requests.isEmpty)
            for request in own.requests {
                for name in ["Authorization", "X-Api-Key", "Cookie"] {
                    #expect(request.header(name) == nil, "\(request)")
                }
            }
            // Its secrets unset, it may take any way.
            let free = try await guest.add([
                "url": .string(home.url("/free")), "profile": "shared", "kind": "data", "credential": .null,
                "proxy": proxy,
            ])
            try await daemon.complete(free)
            #expect(own.requests.allSatisfy { $0.header("Authorization") == nil })
        }
    }

    @Test func aGuestsTaskSendsOnlyFilesBelowItsRootsThatTheGuestMayRead() async throws {
        let server = try await server()
        try await withGuest { daemon, guest in
            let outside = try TemporaryDirectory("xfer-outside")
            chmod(outside.path, 0o755)
            try FileTree.write("everybody's, elsewhere", to: outside.file("public"))
            try FileTree.write("its own", to: "\(guest.root)/own", mode: 0o600)
            chown("\(guest.root)/own", uid_t(guest.uid), gid_t(guest.uid))
            try FileTree.write("root's alone", to: "\(guest.root)/secret", mode: 0o600)
            symlink(outside.file("public"), "\(guest.root)/link")
            symlink(outside.path, "\(guest.root)/way")
            mkfifo("\(guest.root)/pipe", 0o666)

            func fields(_ path: String) -> [(fields: JSONObject, field: String)] {
                let file = JSONValue.string(path)
                return [
                    (["kind": "upload", "source": file], "source"),
                    (["kind": "data", "method": "POST", "body": ["file": file]], "body.file"),
                    (["kind": "data", "method": "POST", "parts": [["name": "f", "file": file]]], "parts[0].file"),
                    (["kind": "upload", "source": file, "spool": true], "source"),
                ]
            }
            for (fields, field) in fields("\(guest.root)/own") {
                var params = fields
                params["url"] = .string(server.url("/own"))
                try await daemon.complete(try await guest.add(.object(params)))
                #expect(
                    server.requests.last.map { String(decoding: $0.body, as: UTF8.self) }?.contains("its own") == true,
                    "\(field)")
            }
            let count = server.requests.count
            let refused = [
                outside.file("public"), "\(guest.root)/secret", "\(guest.root)/link", "\(guest.root)/way/public",
                "\(guest.root)/../\(outside.path.split(separator: "/").last ?? "")/public", "/etc/hostname",
                "\(daemon.stateDirectory)/xferd.sqlite", daemon.configurationFile, "\(guest.root)/none", guest.root,
                "\(guest.root)/pipe",
            ]
            for path in refused {
                for (fields, field) in fields(path) {
                    var params = fields
                    params["url"] = .string(server.url("/refused"))
                    let answer = try await guest.call("task.add", .object(params))
                    #expect(answer.result == nil && answer.error.contains(field), "\(path), \(field): \(answer)")
                }
            }
            #expect(server.requests.count == count)
            let list = try await guest.call("task.list", ["filter": ["all": true]])
            #expect(list.result?["tasks"]?.arrayValue?.count == 4)
            // State and configuration are not even an operator's to send.
            for path in ["\(daemon.stateDirectory)/xferd.sqlite"] {
                let params: JSONValue = [
                    "url": .string(server.url("/refused")), "kind": "upload", "source": .string(path),
                ]
                #expect(try await daemon.refusal("task.add", params)?.code == -32003)
            }
        }
    }
}
