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

    /// Debian's promtool; scripts/packages soak installs it.
    private static let promtool = Command.find("promtool")

    @Test(.enabled(if: promtool != nil, "promtool of Debian's prometheus is not installed"))
    func promtoolHasNothingToSayAboutTheMetricsOfALoadedDaemon() async throws {
        try await withDaemon { daemon in
            let text = try await loadedMetrics(of: daemon)
            let result = try await Command.run(try #require(Self.promtool), ["check", "metrics"], input: text)
            #expect(result.isSuccess && result.output.isEmpty && result.errors.isEmpty, "\(result)")
        }
    }

    @Test func theQueueTheDatabaseAndCallsAreShown() async throws {
        try await withDaemon { daemon in
            let text = try await loadedMetrics(of: daemon)
            #expect(PrometheusLint.problems(in: text) == [])
            for line in [
                "xferd_tasks{state=\"completed\"} 1", "xferd_tasks{state=\"paused\"} 2",
                "xferd_tasks_ended_total{state=\"failed\"} 1", "xferd_task_failures_total{reason=\"http_status\"} 1",
                "xferd_waiting_tasks{reason=\"schedule\"} 1", "xferd_degraded 0", "xferd_queue_paused 0",
                "xferd_damaged_rows 0",
                "xferd_queue_wait_seconds_count 2", "xferd_run_duration_seconds_count 2", "xferd_failed_urls 1",
                "xferd_rpc_calls_total{method=\"task.add\",outcome=\"ok\"} 5", "xferd_requests_total 2",
                "xferd_rpc_calls_total{method=\"task.get\",outcome=\"error\"} 1", "xferd_loop_stalls_total 0",
            ] { #expect(text.contains("\n\(line)\n"), "lacks \(line)") }
            let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
            let names = Set(types.map { String($0.split(separator: " ")[2]) })
            for name in [
                "xferd_group_tasks", "xferd_host_failures_total", "xferd_disk_free_bytes", "xferd_disk_reserve_bytes",
                "xferd_log_bytes", "xferd_log_checkpoint_age_seconds", "xferd_commit_duration_seconds",
                "xferd_commit_changes", "xferd_event_subscribers", "xferd_event_backlog", "xferd_cache_bytes",
                "xferd_process_open_fds", "xferd_process_resident_memory_bytes", "xferd_connections_made_total",
            ] { #expect(names.contains(name), "lacks \(name)") }
        }
    }

    /// What a daemon answers after one task of each fate.
    private func loadedMetrics(of daemon: DaemonFixture) async throws -> String {
        let server = try await FaultServer()
        server.serve("/f", .tagged(1, length: 1000))
        let done = try await daemon.add(server.url("/f"), ["group": "a \"group\""])
        try await daemon.wait(done, for: "completed")
        let failed = try await daemon.add(server.url("/not-there"))
        try await daemon.wait(failed, for: "failed")
        for _ in 0..<2 { _ = try await daemon.add(server.url("/f"), ["paused": true, "group": "a \"group\""]) }
        _ = try await daemon.add(server.url("/f"), ["not_before": "2099-01-01T00:00:00Z"])
        _ = try? await daemon.call("task.get", ["id": 9999])
        return try await metrics(of: daemon)
    }
}
