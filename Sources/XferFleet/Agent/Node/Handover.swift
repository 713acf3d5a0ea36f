import StrictJSON
import XferCore
import XferModel
import XferProtocol

/// Converts a claimed task to the form of the node's daemon, and the daemon's record of it to the form of the fleet.
enum Handover {
    /// The parameters of the daemon's `task.add`; nil if the stored text is not a task's.
    static func newTask(_ claim: FleetClaim, fleet: String, _ storages: StorageMounts) -> NewTask? {
        guard var fields = object(claim.spec) else { return nil }
        fields[NamedSettings.member] = nil
        for (name, value) in claim.limits.flatMap(object)?.members ?? [] {
            fields[name] = value == .null ? nil : value
        }
        fields["owner"] = .string(claim.owner)
        fields["client_key"] = .string(FleetTaskKey(fleet: fleet, task: claim.claimKey.task.rawValue).description)
        fields["priority"] = claim.priority.wire
        // The list of failed URLs is the node's own: a task that is tried again in the fleet is a new one here.
        fields["retry_failed"] = true
        // Only this node can carry out what is for it alone: no other one takes it over.
        if !claim.place.isPinned { fields["lease"] = .string(LocalDaemon.lease) }
        if let storage = claim.place.storage {
            let directory = (fields["dir"]?.stringValue ?? "").split(separator: "/").joined(separator: "/")
            guard let path = storages.path(of: directory, on: storage) else { return nil }
            fields["dir"] = .string(path)
            // The agent publishes it under a permit.
            fields["finalize"] = "manual"
        }
        return try? NewTask(lenient: .object(fields))
    }

    /// The fields of the daemon's record that the fleet keeps with an ended task.
    static let keptFields = [
        "kind", "error", "progress", "final_url", "final_path", "http_status", "etag", "content_encoding", "attempts",
        "skipped", "not_modified", "warning", "started_at", "finished_at",
    ]

    /// The details of an ended task that the fleet stores.
    static func detail(_ record: TaskRecord) -> String {
        let fields = TaskColumns(keptFields).map { record.selecting($0) } ?? record
        guard case .object(var object) = fields.wire else { return "{}" }
        for name in ["id", "kind"] { object[name] = nil }
        let text = JSONValue.object(object).text
        guard text.utf8.count > FleetEnd.detailLimit else { return text }
        for name in ["final_url", "etag", "error"] { object[name] = nil }
        return JSONValue.object(object).text
    }

    /// The end of the record's task; nil if it has not ended.
    static func ending(_ record: TaskRecord) -> FleetEnding? {
        switch record.state?.value {
        case .completed: .completed
        case .failed: record.error?.reason.value == .outcomeUnknown ? .outcomeUnknown : .failed
        case .cancelled: .cancelled
        default: nil
        }
    }

    /// The detail of a task that the daemon refused.
    static func detail(_ failure: RPCFailure, reason: FailureReason? = nil, node: String) -> String {
        var record = FailureRecord()
        record.reason = .known(reason ?? .rejectedByPolicy)
        record.message = "node \(node): \(failure.data?.path.map { $0 + ": " } ?? "")\(failure.message)"
        return JSONValue.object(["error": record.wire]).text
    }

    /// The named settings of the task, and their digests on the node that added it.
    static func namedSettings(_ claim: FleetClaim) -> (settings: NamedSettings, named: [NamedSetting])? {
        guard claim.spec.contains("\"\(NamedSettings.member)\""), var fields = object(claim.spec) else { return nil }
        let settings = NamedSettings(removedFrom: &fields)
        let named = [
            fields["policy"]?.stringValue.map { NamedSetting.policy($0) },
            fields["profile"]?.stringValue.map { NamedSetting.profile($0) },
        ]
        return (settings, named.compactMap { $0 })
    }

    private static func object(_ text: String) -> JSONObject? {
        (try? JSONValue(parsing: text.utf8))?.objectValue
    }
}
