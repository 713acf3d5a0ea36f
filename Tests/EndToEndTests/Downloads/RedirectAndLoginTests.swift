import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Redirects hop by hop, and credentials that stay where they belong.
@Suite struct RedirectAndLoginTests {
    private let source = SourceVersion.tagged(40, length: 50_000)

    @Test func aRedirectChainIsFollowedAndReportedAsEvents() async throws {
        let server = try await FaultServer()
        server.serve("/end", source)
        server.on("/a") { _ in .redirect(to: "/b", status: 301) }
        server.on("/b") { [port = server.port] _ in .redirect(to: "http://127.0.0.1:\(port)/end?x=1", status: 307) }
        try await withTask(server.url("/a")) { daemon, id in
            let view = try await daemon.complete(id)
            try expectFile(view, is: source)
            #expect(view.json["final_url"]?.stringValue == server.url("/end?x=1"))
            #expect(try await daemon.events(of: id, types: "task.redirected").count == 2)
        }
    }

    /// A small file takes the way of brief runs, one with mirrors or a longer one an ordinary run.
    @Test func aFileIsNamedAfterTheLastURLOfItsRedirects() async throws {
        let server = try await FaultServer()
        let long = SourceVersion.tagged(41, length: 600_000)
        server.serve("/v1/small-1.2.iso", source)
        server.serve("/v1/long-1.2.iso", long)
        server.serve("/v1/", source)
        server.on("/latest") { request in
            .redirect(to: request.target.contains("long") ? "/v1/long-1.2.iso" : "/v1/small-1.2.iso")
        }
        server.on("/nameless") { _ in .redirect(to: "/v1/") }
        try await withDaemon { daemon in
            let small = try await daemon.complete(try await daemon.add(server.url("/latest")))
            #expect(small.finalPath?.hasSuffix("/small-1.2.iso") == true)
            let large = try await daemon.complete(try await daemon.add(server.url("/latest?long")))
            #expect(large.finalPath?.hasSuffix("/long-1.2.iso") == true)
            let nameless = try await daemon.complete(try await daemon.add(server.url("/nameless")))
            #expect(nameless.finalPath?.hasSuffix("/nameless") == true)
            // The file to compare has to be known before the request.
            let updated = try await daemon.complete(
                try await daemon.add(server.url("/latest"), ["on_conflict": "update"]))
            #expect(updated.finalPath?.hasSuffix("/latest") == true)
            let urls = [server.url("/latest?long"), server.url("/v1/long-1.2.iso")].map { JSONValue.string($0) }
            let added = try await daemon.call("task.add", ["urls": .array(urls)])
            let mirrored = try await daemon.complete(try #require(added["task"]?["id"]?.integerValue))
            #expect(mirrored.finalPath?.hasSuffix("/latest (1)") == true, "\(mirrored.json.text)")
        }
    }

    @Test func httpsToAPortWithoutTLSFailsForGoodWithItsCause() async throws {
        // nginx's answer to TLS on a plain port.
        let server = try RawServer { connection in
            _ = connection.read(5)
            connection.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        try await withTask("https://127.0.0.1:\(server.port)/f") { daemon, id in
            try await daemon.fails(id, "connect_failed")
            let error = try await daemon.finish(id).json["error"]
            #expect(error?["cause"] == "not_tls" && error?["is_retriable"] == false, "\(error?.text ?? "")")
        }
    }

    @Test func aRedirectLoopFailsTheTask() async throws {
        let server = try await FaultServer()
        server.on("/a") { _ in .redirect(to: "/b") }
        server.on("/b") { _ in .redirect(to: "/a") }
        try await withTask(server.url("/a")) { daemon, id in try await daemon.fails(id, "too_many_redirects") }
        #expect(server.requests.count <= 22)
    }

    @Test func aRedirectToAnotherSchemeFailsTheTask() async throws {
        let server = try await FaultServer()
        for (index, target) in ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/"].enumerated() {
            server.on("/\(index)") { _ in .redirect(to: target) }
            try await withTask(server.url("/\(index)")) { daemon, id in
                let view = try await daemon.finish(id)
                #expect(view.state == "failed", "\(target): \(view.json.text)")
                try await daemon.expectDownloads([])
            }
        }
    }

    @Test func redirectPolicyDenyRefusesARedirect() async throws {
        let (server, elsewhere) = (try await FaultServer(), try await FaultServer())
        elsewhere.serve("/f", source)
        let target = elsewhere.url("/f")
        server.on("/f") { _ in .redirect(to: target) }
        try await withDaemon { daemon in
            try await daemon.fails(try await daemon.add(server.url("/f"), ["redirect": "deny"]), "redirect_denied")
            try await daemon.fails(
                try await daemon.add(server.url("/f"), ["redirect": "same_origin"]), "redirect_denied")
        }
        #expect(elsewhere.requests.isEmpty)
    }

    @Test func secretsStayAtTheirOriginAcrossARedirect() async throws {
        let (server, elsewhere) = (try await FaultServer(), try await FaultServer())
        elsewhere.serve("/f", source)
        let target = elsewhere.url("/f")
        server.on("/f") { request in request.header("Authorization") == nil ? .unauthorized : .redirect(to: target) }
        let login: JSONValue = ["user": "ada", "password": "hunter22"]
        let fields: JSONObject = ["credential": login, "headers": ["Cookie": "session=crumbs", "Accept": "a/b"]]
        try await withTask(server.url("/f"), fields) { daemon, id in try await daemon.complete(id) }
        #expect(elsewhere.requests.allSatisfy { $0.header("Authorization") == nil && $0.header("Cookie") == nil })
        #expect(elsewhere.requests.allSatisfy { $0.header("Accept") == "a/b" })
        #expect(server.requests.contains { $0.header("Authorization") == "Basic YWRhOmh1bnRlcjIy" })
    }

    @Test(.enabled(if: NginxFixture.isInstalled, "needs nginx-light"))
    func aRedirectFromHTTPSToHTTPIsFollowedOnlyIfAllowed()
        async throws
    {
        let ca = try TestCA()
        let leaf = try ca.issue()
        let server = try await FaultServer()
        server.serve("/f", source)
        var options = NginxFixture.Options()
        options.tls = (ca.chain(for: leaf), leaf.privateKey)
        options.directives = "location /f { return 302 \(server.url("/f")); }"
        let nginx = try await NginxFixture(options)
        let scratch = try TemporaryDirectory()
        try FileTree.write(ca.pem, to: scratch.file("ca.pem"))
        try await withDaemon(DaemonFixture.Options(settings: ["trust": ["ca_file": scratch.file("ca.pem")]])) {
            daemon in
            try await daemon.fails(try await daemon.add(nginx.secureURL("/f")), "insecure_redirect")
            #expect(server.requests.isEmpty)
            let allowed = try await daemon.add(nginx.secureURL("/f"), ["allow_downgrade": true])
            try expectFile(try await daemon.complete(allowed), is: source)
        }
    }

    @Test func passwordsOfATaskAreNeverReturned() async throws {
        let server = try await FaultServer()
        let secrets = ["hunter22", "sesame99", "tok-1234", "aHVudGVy"]
        server.on("/f") { [source] request in
            request.header("Authorization") == nil ? .unauthorized : source.honestReply(to: request)
        }
        try await withDaemon(DaemonFixture.Options(settings: ["log": ["level": "trace"]])) { daemon in
            let fields: JSONObject = [
                "credential": ["user": "ada", "password": "hunter22"],
                "headers": ["X-Api-Key": "sesame99", "Accept": "*/*"],
            ]
            let id = try await daemon.add(server.url("/f?access_token=tok-1234"), fields)
            try await daemon.complete(id)
            let inURL = try await daemon.add("http://bob:hunter22@127.0.0.1:\(server.port)/f", ["output": "second"])
            try await daemon.complete(inURL)
            let refused = try await daemon.add("http://127.0.0.1:\(server.port)/f", ["output": "third"])
            try await daemon.fails(refused, "auth_failed")

            var shown = daemon.log
            shown += try await daemon.task(id).text + daemon.task(inURL).text
            shown += try await daemon.call("task.list").text
            shown += try await daemon.events().map(\.text).joined()
            shown += try await daemon.ctl("list").description
            shown += try await daemon.ctl("show", "\(id)").description
            for secret in secrets { #expect(!shown.contains(secret), "\(secret) is shown") }
            #expect(shown.contains("***"))
            // And they arrived where they had to.
            #expect(server.requests.contains { $0.header("X-Api-Key") == "sesame99" && $0.target.contains("tok-1234") })
        }
    }
}
