import StrictJSON
import XferCore
import XferCurl
public import XferModel
public import XferProtocol
import XferStore

/// The hosts' windows, and the limits that operators have set for hosts.
extension QueueControl {
    /// The highest number of hosts that have limits of their own.
    public static let mostHosts = 1000

    /// Changes the limits of one host. They survive a restart.
    ///
    /// - Parameter text: a host, or `host:port`.
    /// - Returns: the host as the scheduler counts it.
    public func setLimits(
        ofHost text: String, connections: Patch<Int>, requestsPerMinute: Patch<Int>
    ) async throws -> String {
        let host = try Self.key(of: text)
        await lock.enter()
        defer { lock.leave() }
        var changed = hostLimits
        var limit = changed[host] ?? OriginWindows.HostLimit()
        limit.connections = connections.applied(to: limit.connections)
        limit.requestsPerMinute = requestsPerMinute.applied(to: limit.requestsPerMinute)
        changed[host] = limit.isEmpty ? nil : limit
        guard changed.count <= Self.mostHosts else {
            throw ManagerError.invalidField(
                path: "host", reason: "\(Self.mostHosts) hosts have limits of their own",
                expected: "one of the hosts that have limits")
        }
        let text = HostLimitText.text(of: changed)
        try await translatingStoreErrors {
            try await store.write { try $0.settings.set(StoredSetting.hostLimits, text) }
        }
        hostLimits = changed
        await applyQueueLimits()
        await scheduler.schedule()
        return host
    }

    /// The `HTTPURL.hostKey` of URLs with this host; 443 is the port of https.
    private static func key(of text: String) throws -> String {
        let scheme = text.hasSuffix(":443") ? "https" : "http"
        guard let parsed = try? CurlURL.parse("\(scheme)://\(text)/"), parsed.url.target == "/",
            parsed.credential == nil
        else {
            throw ManagerError.invalidField(
                path: "host", reason: "\"\(text)\" is not a host", expected: "a host, or host:port")
        }
        return parsed.url.hostKey
    }

    /// The hosts that are or were recently in use, or have limits of their own, in the order of their names.
    public func hosts() async -> [HostRecord] {
        let (origins, machine) = await scheduler.origins
        var windows = Dictionary(uniqueKeysWithValues: origins.all.map { ($0.host, Optional($0.window)) })
        for host in hostLimits.keys where windows[host] == nil { windows[host] = .some(nil) }
        return windows.keys.sorted().map { record(of: $0, windows[$0] ?? nil, machine) }
    }

    /// The known state of one host.
    public func host(_ host: String) async -> HostRecord {
        let (origins, machine) = await scheduler.origins
        return record(of: host, origins[host], machine)
    }

    private func record(of host: String, _ window: OriginWindow?, _ machine: SchedulerStateMachine) -> HostRecord {
        var record = HostRecord()
        record.host = host
        record.window = machine.maxActive(of: host)
        record.active = machine.activeCount(ofHost: host)
        record.maxConnections = hostLimits[host]?.connections
        record.requestsPerMinute = hostLimits[host]?.requestsPerMinute
        guard let window else { return record }
        record.connections = window.connections
        switch window.http {
        case .unknown: break
        case .http1: record.httpProtocol = OpenEnum(.http1)
        case .http2: record.httpProtocol = OpenEnum(.http2)
        }
        record.latency = window.latency.map { $0.wholeMicroseconds / 1000 }
        record.rate = window.rate.map { Int64(saturating: $0) }
        record.refusals = window.refusals
        let isShared = machine.limits.maxActivePerHost == nil && record.window < window.size
        let reason = isShared ? .sharedAddress : HostReason(rawValue: window.reason.rawValue)
        record.reason = reason.map { OpenEnum($0) }
        return record
    }
}

/// The text that keeps the limits of hosts: `{"example.org": {"connections": 2, "requests_per_minute": 60}}`.
enum HostLimitText {
    static func text(of limits: [String: OriginWindows.HostLimit]) -> String? {
        guard !limits.isEmpty else { return nil }
        var object = JSONObject()
        for (host, limit) in limits.sorted(by: { $0.key < $1.key }) {
            var fields = JSONObject()
            fields["connections"] = limit.connections.map { .integer(Int64(clamping: $0)) }
            fields["requests_per_minute"] = limit.requestsPerMinute.map { .integer(Int64(clamping: $0)) }
            object[host] = .object(fields)
        }
        return JSONValue.object(object).text
    }

    /// Reads the limits. Limits that cannot be read are left out, so that they do not prevent the start of the service.
    static func limits(in text: String?) -> [String: OriginWindows.HostLimit] {
        guard let text, let object = (try? JSONValue(parsing: text))?.objectValue else { return [:] }
        var limits: [String: OriginWindows.HostLimit] = [:]
        for (host, value) in object.members {
            func number(_ name: String, in range: ClosedRange<Int>) -> Int? {
                guard let number = value[name]?.integerValue, range.contains(Int(clamping: number)) else { return nil }
                return Int(clamping: number)
            }
            let limit = OriginWindows.HostLimit(
                connections: number("connections", in: OriginWindows.HostLimit.connectionRange),
                requestsPerMinute: number("requests_per_minute", in: OriginWindows.HostLimit.requestRange))
            if !limit.isEmpty { limits[host] = limit }
        }
        return limits
    }
}
