public import StrictJSON
import XferModel
import XferProtocol

extension Aria2Status {
    /// The result of `getOption`: the options that were chosen, secrets masked.
    public var options: JSONValue {
        var object: JSONObject = ["gid": .string(gid.description)]
        func set(_ option: Aria2Option.Mapped, _ text: String?) {
            if let text { object.append(newKey: option.rawValue, .string(text)) }
        }
        set(.directory, task.dir)
        set(.out, task.output)
        set(.checksum, task.checksum)
        set(.downloadLimit, String(value(task.limits.maxReceiveRate) ?? 0))
        set(.uploadLimit, String(value(task.limits.maxSendRate) ?? 0))
        if case .exactly(let count)? = value(task.limits.segments) {
            set(.split, String(count))
            set(.connections, String(count))
        }
        set(.tries, value(task.limits.maxRetries).map { String(max(0, $0) + 1) } ?? "0")
        setConflict(set)
        set(.remoteTime, value(task.destination.usesRemoteTime) == true ? "true" : "false")
        set(.connectTimeout, seconds(task.choices.connectTimeout))
        set(.timeout, seconds(task.choices.idleTimeout))
        set(.lowestSpeed, value(task.choices.minReceiveRate).map { String($0) })
        if let proxy = value(task.access.proxy) { set(.proxy, proxy.form.url) }
        set(.pause, state == .paused ? "true" : "false")
        setHeaders(in: &object)
        return .object(object)
    }

    private func setConflict(_ set: (Aria2Option.Mapped, String?) -> Void) {
        let policy = value(task.destination.onConflict)
        set(.overwrite, policy == .overwrite ? "true" : "false")
        set(.rename, policy == .fail ? "false" : "true")
        set(.conditional, policy == .update ? "true" : "false")
        set(.continuing, policy == .continue ? "true" : "false")
    }

    private func setHeaders(in object: inout JSONObject) {
        var lines: [JSONValue] = []
        for field in task.headers?.fields ?? [] {
            switch field.name.lowercased() {
            case "referer": object[Aria2Option.Mapped.referer.rawValue] = .string(field.value)
            case "user-agent": object[Aria2Option.Mapped.userAgent.rawValue] = .string(field.value)
            default: lines.append(.string("\(field.name): \(field.value)"))
            }
        }
        guard !lines.isEmpty else { return }
        object.append(newKey: Aria2Option.Mapped.header.rawValue, lines.count == 1 ? lines[0] : .array(lines))
    }

    private func value<Value>(_ patch: Patch<Value>) -> Value? {
        if case .set(let value) = patch { value } else { nil }
    }

    private func seconds(_ patch: Patch<Double>) -> String? {
        value(patch).flatMap { Int64(exactly: $0.rounded()) }.map(String.init)
    }
}
