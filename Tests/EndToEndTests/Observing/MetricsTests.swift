import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// `GET /metrics` as Prometheus reads it.
@Suite struct MetricsTests {
    private func metrics(of daemon: DaemonFixture) async throws -> String {
        let socket = try UnixSocket(connectedTo: daemon.socket)
        try await socket.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let answer = try await socket.readToEnd()
        guard let end = answer.firstRange(of: "\r\n\r\n") else { throw TimedOut("no head in \(answer)") }
        return String(answer[end.upperBound...])
    }

    private func value(_ name: String, in text: String) -> Int64? {
        text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }.flatMap { Int64($0.dropFirst(name.count + 1)) }
    }

    @Test func bytesAreCountedWhileTheyAreReceived() async throws {
        try await withDaemon { daemon in
            let server = try await FaultServer()
            let gate = Gate()
            server.serve("/f", .tagged(131, length: 400_000)).always(.stall(at: 300_000, until: gate))
            let id = try await daemon.add(server.url("/f"))
            try await eventually("received bytes are counted before the end") {
                value("xferd_received_bytes_total", in: try await metrics(of: daemon)) == 300_000
            }
            gate.open()
            try await daemon.wait(id, for: "completed")
            try await eventually("all of them are counted, once") {
                value("xferd_received_bytes_total", in: try await metrics(of: daemon)) == 400_000
            }
            #expect(value("xferd_sent_bytes_total", in: try await metrics(of: daemon)) == 0)
        }
    }

    @Test func bytesAreCountedWhileTheyAreSent() async throws {
        let gate = Gate()
        try await withUploads(.tus) { daemon, server in
            server.inject(.hold(after: 1, gate), on: "PATCH")
            let source = try UploadSource(seed: 71, length: 300_000)
            let id = try await daemon.upload(source, to: server.url(), by: "tus")
            await gate.arrived()
            try await eventually("sent bytes are counted before the end") {
                value("xferd_sent_bytes_total", in: try await metrics(of: daemon)) ?? 0 > 0
            }
            gate.open()
            try await daemon.complete(id)
            try await eventually("all of them are counted, once") {
                value("xferd_sent_bytes_total", in: try await metrics(of: daemon)) == 300_000
            }
            #expect(PrometheusLint.problems(in: try await metrics(of: daemon)) == [])
        }
    }
}
