import StrictJSON
import XferCore

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
