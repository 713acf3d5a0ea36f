import JSONRPC
import StrictJSON
import XferAria2
import XferModel
import XferProtocol

// Options of downloads and of the service.
extension Aria2Client {
    func changeOption(_ params: Aria2Parameters) async throws -> JSONValue {
        let options = try params.options(1)
        let status = try await download(params, [.files])
        guard !status.state.isStopped else { throw Aria2Fault("Cannot change option for GID#\(status.gid)") }
        let changes = try options.changes(for: status.urls.first ?? "")
        facade.report(ignored: options.ignored)
        if let changes { try await update(status.task.id, changes) }
        return Self.done
    }

    /// Changes a task. If a running task refuses a field, it is stopped, changed and resumed, as in aria2.
    private func update(_ id: TaskID, _ changes: TaskChanges) async throws {
        let params = TaskUpdate.Params(id: id, changes: changes)
        do {
            _ = try await attempt(TaskUpdate.self, params)
            return
        } catch let error as RPCError {
            guard error.knownCode == .invalidState, error.data?["state"]?.stringValue == TaskState.running.rawValue
            else { throw Aria2Fault(error) }
        }
        let selection = TaskSelection(ids: [id])
        _ = try await call(TaskPause.self, selection)
        let outcome: Result<Void, any Error>
        do {
            _ = try await call(TaskUpdate.self, params)
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        _ = try await call(TaskResume.self, selection)
        try outcome.get()
    }

    /// Replaces the URI of a download. Mirrors stay unchanged.
    func changeUri(_ params: Aria2Parameters) async throws -> JSONValue {
        guard try params.integer(1) == 1 else { throw Aria2Fault("fileIndex is out of range") }
        let (removed, added) = (try params.strings(2), try params.strings(3))
        let position = try params.optionalInteger(4)
        let status = try await download(params, [.files])
        guard !status.state.isStopped else { throw Aria2Fault("Cannot remove URIs from GID#\(status.gid)") }
        var urls = status.urls
        var count = 0
        for uri in removed {
            guard let index = urls.firstIndex(of: uri) else { continue }
            urls.remove(at: index)
            count += 1
        }
        urls.insert(contentsOf: added, at: min(max(0, Int(clamping: position ?? .max)), urls.count))
        if urls != status.urls {
            guard let url = urls.first, urls.allSatisfy({ $0 == url }) else {
                throw Aria2Fault(
                    "a download keeps the mirrors with which it was added; only a single URI can replace them")
            }
            _ = try await call(TaskSetSource.self, TaskSetSource.Params(id: status.task.id, url: url))
        }
        return [.integer(Int64(clamping: count)), .integer(Int64(clamping: added.count))]
    }

    // MARK: The service

    /// Returns the options that are known. Limits of the whole service are shown to operators.
    func getGlobalOption() async -> JSONValue {
        var object = JSONObject()
        if let stats = try? await attempt(QueueStats.self, NoParams()) {
            object.append(
                newKey: Aria2Option.Global.concurrent.rawValue, .string(String(stats.limits.maxActive)))
            object.append(
                newKey: Aria2Option.Global.downloadLimit.rawValue, .string(String(stats.limits.maxReceiveRate)))
            object.append(newKey: Aria2Option.Global.uploadLimit.rawValue, .string(String(stats.limits.maxSendRate)))
        }
        if let setting = try? await attempt(DaemonConfig.self, NoParams()).settings.first(where: {
            $0.key == "download.dir"
        }), let directory = setting.text {
            object.append(newKey: "dir", .string(directory))
        }
        for (name, value) in Self.fixed { object.append(newKey: name, .string(value)) }
        return .object(object)
    }

    /// The options that do not depend on the configuration.
    private static let fixed = [
        ("allow-overwrite", "false"), ("auto-file-renaming", "true"), ("check-certificate", "true"),
        ("continue", "true"), ("enable-rpc", "true"), ("max-download-result", String(Aria2Slice.maxCount)),
        ("pause", "false"),
    ]

    func changeGlobalOption(_ params: Aria2Parameters) async throws -> JSONValue {
        var limits = QueueSetLimits.Params()
        var ignored: Set<String> = []
        for (name, value) in try params.object(0).members {
            let text = value.stringValue ?? value.integerValue.map { String($0) } ?? ""
            switch Aria2Option.Global(rawValue: name) {
            case .concurrent?: limits.maxActive = .set(Int(clamping: try Self.number(name, text)))
            case .downloadLimit?: limits.maxReceiveRate = .set(try Aria2Option.bytes(name, text))
            case .uploadLimit?: limits.maxSendRate = .set(try Aria2Option.bytes(name, text))
            case nil:
                guard case .ignored = Aria2Option.treatment(of: name) else {
                    throw Aria2Fault(Aria2Option.globalRefusal(of: name))
                }
                ignored.insert(name)
            }
        }
        facade.report(ignored: ignored)
        if limits == QueueSetLimits.Params() {
            // The service decides whether the client might change limits at all.
            _ = try await call(QueueStats.self, NoParams())
        } else {
            _ = try await call(QueueSetLimits.self, limits)
        }
        return Self.done
    }

    private static func number(_ name: String, _ text: String) throws(Aria2Fault) -> Int64 {
        guard let number = Int64(text, radix: 10), number > 0 else {
            throw Aria2Fault("\(name): expected a number of at least 1")
        }
        return number
    }

    func getGlobalStat() async throws -> JSONValue {
        let counts = try await counts()
        let running = try await active([.downloadSpeed])
        let stopped = try await stopped(.keys).count
        let rate = running.map { $0.progress?.rate ?? 0 }.saturatedSum
        let total = stopped + facade.hidden.count(of: connection.peer.userID)
        let waiting = [counts.queued, counts.waiting, counts.paused, counts.staged].saturatedSum
        func text(_ number: Int64) -> JSONValue { .string(String(max(0, number))) }
        return [
            "downloadSpeed": text(rate), "uploadSpeed": "0", "numActive": text(counts.running),
            "numWaiting": text(waiting), "numStopped": text(Int64(clamping: stopped)),
            "numStoppedTotal": text(Int64(clamping: total)),
        ]
    }

    /// Counts that need no list: those of the group, or of all tasks.
    private func counts() async throws -> StateCounts {
        if facade.showsAll { return try await call(DaemonStatus.self, NoParams()).counts }
        do {
            let owner = Owner(uid: connection.peer.userID)
            return try await attempt(GroupGet.self, GroupGet.Params(name: Aria2Marker.group, owner: owner)).group.counts
        } catch let error as RPCError {
            // Without a task there is no group.
            guard error.knownCode == .notFound else { throw Aria2Fault(error) }
            return StateCounts()
        }
    }

    func shutDown() async throws -> JSONValue {
        _ = try await call(DaemonShutdown.self, DaemonShutdown.Params(mode: .suspend))
        return Self.done
    }
}
