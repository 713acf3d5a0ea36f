import StrictJSON
import XferCore
import XferDaemon
import XferModel
import XferProtocol

/// The calls about a node that is permanently lost.
extension FleetFace {
    func forget(_ params: FleetForget.Params) async throws -> FleetForget.Result {
        var result = FleetForget.Result()
        var after: FleetTaskID?
        while true {
            let from = after
            let page = try await attempt { () throws(FleetError) in
                try await database.takeovers.forgetEffects(params.node, after: from)
            }
            for effect in page {
                let id = TaskID(effect.task.rawValue)
                switch effect.verdict {
                case .queue:
                    result.requeuedCount += 1
                    if result.requeued.count < 1000 { result.requeued.append(id) }
                case .end:
                    result.failedCount += 1
                    if result.failed.count < 1000 { result.failed.append(id) }
                case .keep: break
                }
            }
            after = page.last?.task
            if page.count < 1000 { break }
        }
        try await findParts(of: params.node, isRemoving: params.confirm, &result)
        guard params.confirm else { return result }
        try await attempt { () throws(FleetError) in try await database.takeovers.forget(params.node) }
        result.forgotten = true
        changed()
        return result
    }

    // MARK: Partial files

    /// Counts or removes the node's partial files on shared storages, in the directories of the tasks that the fleet
    /// knows.
    private func findParts(of name: String, isRemoving: Bool, _ result: inout FleetForget.Result) async throws {
        let rows = try await attempt { () throws(FleetError) in try await database.nodes.list(isCounting: false) }
        guard let row = rows.first(where: { $0.description.name == name }) else { return }
        let node = row.description
        guard !isRemoving || row.isDown else { return }
        // The machine may have another name by now: then its partial files are of use.
        guard node.storeID.utf8.count >= StorageMounts.tagLength,
            !rows.contains(where: { $0.id != row.id && $0.description.storeID == node.storeID })
        else { return }
        let directories = try await directories(on: node.storages)
        for storage in node.storages.sorted() {
            do {
                for directory in directories[storage, default: [""]].sorted() {
                    let count = try await storages.parts(
                        ofStore: node.storeID, in: directory, on: storage, isRemoving: isRemoving)
                    result.parts = result.parts.addingSaturated(Int64(clamping: count))
                }
            } catch {
                result.storagesLeft.append(storage)
            }
        }
    }

    /// Directories that tasks name, by storage.
    private func directories(on storages: Set<String>) async throws -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        var after: FleetTaskID?
        guard !storages.isEmpty else { return found }
        while true {
            let from = after
            let page = try await attempt { () throws(FleetError) in
                try await database.takeovers.specifications(on: storages, after: from)
            }
            for task in page {
                let directory = (try? JSONValue(parsing: task.spec.utf8))?["dir"]?.stringValue ?? ""
                let beneath = directory.split(separator: "/").joined(separator: "/")
                found[task.storage, default: [""]].insert(beneath)
            }
            guard let last = page.last else { return found }
            after = last.task
        }
    }
}
