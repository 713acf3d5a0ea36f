import StrictJSON
import Testing
import XferTestSupport

/// Hosts of filters, through the real daemon and the real client.
@Suite struct HostFilterTests {
    @Test func aHostWithoutAPortIsItsTasksAtEveryPort() async throws {
        try await withDaemon { daemon in
            var ids: [String: Int64] = [:]
            for url in [
                "http://a.test:8080/", "https://A.test/", "http://a.test/", "http://a.test:443/", "http://aa.test/",
                "http://[0:0::1]:81/", "http://[::2]/",
            ] {
                ids[url] = try await daemon.add(url, ["paused": true])
            }
            let all = ids
            func expect(
                _ host: String, _ urls: String..., sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let expected = Set(urls.compactMap { all[$0] })
                let list = try await daemon.call("task.list", ["filter": ["host": .string(host)]])
                let found = list["tasks"]?.arrayValue?.compactMap { $0["id"]?.integerValue } ?? []
                #expect(Set(found) == expected && found.count == urls.count, "\(host)", sourceLocation: sourceLocation)
                let shown = try await daemon.ctl("list", "--host", host, "--no-header", "--columns", "id")
                let lines = shown.output.split(separator: "\n").compactMap { Int64($0.filter(\.isNumber)) }
                #expect(Set(lines) == expected, "\(host): \(shown)", sourceLocation: sourceLocation)
                let count = try await daemon.call("task.count", ["filter": ["host": .string(host)]])
                #expect(count["total"] == .integer(Int64(urls.count)), "\(count.text)", sourceLocation: sourceLocation)
            }
            try await expect("A.TEST", "http://a.test:8080/", "https://A.test/", "http://a.test/", "http://a.test:443/")
            try await expect("a.test:8080", "http://a.test:8080/")
            try await expect("a.test:443", "https://A.test/", "http://a.test:443/")
            try await expect("a.test:80", "http://a.test/")
            try await expect("[::1]", "http://[0:0::1]:81/")
            try await expect("[0::1]:81", "http://[0:0::1]:81/")
            try await expect("::2", "http://[::2]/")
            try await expect("[::2]:80", "http://[::2]/")
            try await expect("test")
            let cancelled = try await daemon.ctl("cancel", "--host", "a.test")
            #expect(cancelled.output == "4 cancelled\n", "\(cancelled)")
        }
    }
}
