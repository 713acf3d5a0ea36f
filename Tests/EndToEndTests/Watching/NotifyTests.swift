import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// `xferctl notify` with the real daemon.
@Suite struct NotifyTests {
    @Test func notifyTellsOfWhatEndedMeanwhileAndOfWhatEndsThen() async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(160, length: 1000))
        let tools = try TemporaryDirectory("notify-send")
        let calls = tools.file("calls")
        let script = "#!/bin/sh\nprintf '%s\\n' \"$4\" >> '\(calls)'\n"
        try FileTree.write(script, to: tools.file("notify-send"), mode: 0o755)
        var options = DaemonFixture.Options()
        options.environment = ["PATH": "\(tools.path):/usr/bin:/bin"]
        func told() throws -> [String] {
            FileTree.exists(calls) ? try FileTree.text(calls).split(separator: "\n").map(String.init) : []
        }
        try await withDaemon(options) { daemon in
            try await daemon.complete(try await daemon.add(server.url("/f"), ["group": "isos"]))
            try await daemon.fails(try await daemon.add(server.url("/missing-1")), "http_status")
            try await daemon.fails(try await daemon.add(server.url("/missing-2"), ["group": "isos"]), "http_status")
            let waited = try await daemon.ctl("add", "--wait", "--notify", "-o", "waited", server.url("/f"))
            #expect(waited.isSuccess, "\(waited)")
            #expect(try told() == ["waited completed"])

            var child = ChildProcess.Options()
            child.environment = daemon.environment
            child.output = tools.file("output")
            child.errors = tools.file("errors")
            let notify = try ChildProcess(
                "\(Command.productsDirectory)/xferctl", ["notify", "--since", "0", "--group", "isos"], options: child)
            try await eventually("the past is told") { try told().count == 3 }
            #expect(try told().dropFirst() == ["f completed", "missing-2 failed"])
            try await daemon.stop()
            try await daemon.start()
            try await daemon.fails(try await daemon.add(server.url("/missing-3"), ["group": "isos"]), "http_status")
            try await eventually("the new one is told") { try told().count == 4 }
            #expect(try told().last == "missing-3 failed")
            notify.signal(SIGINT)
            #expect(await notify.exit() == .code(130))
            // A failure has a line of advice below it.
            let output = try FileTree.text(tools.file("output"))
            #expect(output.split(separator: "\n").count { $0.hasPrefix("#") } == 3, "\(output)")
            #expect(try FileTree.text(tools.file("errors")).contains("`xferctl notify --since "))
        }
    }
}
