import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// The steps between the last byte and the final name: the hook that processes the file, and the file that waits for
/// `task.commit`.
///
/// A hook works on a copy, so that the received bytes stay unchanged and a retry begins with them. The hook's file is
/// recorded before it is published, so that the hook does not run twice.
extension DownloadRun {
    /// The file that an earlier run recorded as ready, or the copy that a hook was working on.
    func readyFile() async throws -> ReadyFile? {
        let completion = specification.completion
        guard completion.postProcess != nil || completion.finalize == .manual else { return nil }
        let id = taskID
        return try await services.store.read { try $0.readyFiles.find(of: id) }
    }

    /// Publishes or stages the file that an earlier run recorded; nil if it is unusable.
    func resume(with ready: ReadyFile, in directory: DirectoryHandle) async throws -> RunEnd? {
        guard let file = try await reopen(ready, in: directory) else {
            try await forget(ready, in: directory)
            return nil
        }
        defer { file.close() }
        await onBodyEnd()
        readyName = ready.finalName
        let length = try file.length()
        return try await finish(file, length: length, isProcessed: ready.isProcessed, in: directory)
    }

    /// Commits that the file is ready, with its metadata, so that later runs detect a change.
    func recordReady(_ file: PartialFile, length: Int64, isProcessed: Bool = false) async throws {
        let control = control
        let name = await finalName(in: file.directory)
        var ready = ReadyFile(name: file.name, finalName: name, isProcessed: isProcessed)
        ready.facts = try await services.pool(in: file.directory).run { try file.facts() }
        if specification.completion.finalize == .manual {
            if let known = specification.checksum ?? announcedDigest, !isProcessed {
                ready.digest = known
            } else {
                ready.digest = try await services.paths.digests(in: file.directory).run {
                    try FileDigest.compute(
                        file, algorithm: .sha256, length: length, isCancelled: { control.isStopRequested })
                }
            }
        }
        try await commitReady(ready, length: length)
    }

    /// Runs a hook on a copy of the whole part. Returns nil if the run was requested to stop meanwhile.
    ///
    /// - Throws: `post_process_failed`; the part is unchanged.
    func process(
        _ part: PartialFile, length: Int64, by hook: String, in directory: DirectoryHandle
    ) async throws -> (file: PartialFile, length: Int64)? {
        control.enter(.processing)
        // The received bytes are kept, whatever the hook does.
        try await keep(part, length: length)
        let id = transfer.id
        try await services.claim(length, by: id, in: directory, for: "a copy for the hook \"\(hook)\"")
        defer { services.space.withLockedValue { $0.remove(id) } }
        let name = await finalName(in: directory)
        let working = ReadyFile(name: transfer.workingName(), finalName: name, isProcessed: true)
        do {
            try await copy(part, length: length, as: working, in: directory)
            guard try await run(hook, on: working, in: directory) else {
                try await forget(working, in: directory)
                return nil
            }
            let file = try await open(working, by: hook, in: directory)
            try await services.pool(in: directory).run {
                _ = try directory.remove(beginningWith: working.name, but: [working.name])
            }
            let left = try file.length()
            try await prepare(file, length: left)
            try await recordReady(file, length: left, isProcessed: true)
            return (file, left)
        } catch {
            try await forget(working, in: directory)
            throw error
        }
    }

    // MARK: Steps

    /// Commits the row before the copy is created, so that a copy left by a crash can be found.
    private func copy(
        _ part: PartialFile, length: Int64, as working: ReadyFile, in directory: DirectoryHandle
    ) async throws {
        let (id, transferID, control) = (taskID, transfer.id, control)
        try await commit(.immediate) { tx, _ in try tx.readyFiles.set(working, of: id, transfer: transferID) }
        try await services.paths.digests(in: directory).run {
            let copy = try PartialFile.create(in: directory, named: working.name)
            defer { copy.close() }
            _ = try FileCopy.copy(
                from: part.descriptor, to: copy.descriptor, length: length,
                isCancelled: { control.isStopRequested })
        }
    }

    /// Runs the hook; false if it was stopped.
    private func run(_ hook: String, on working: ReadyFile, in directory: DirectoryHandle) async throws -> Bool {
        let id = taskID
        guard let task = try await services.store.read({ try $0.tasks.find(id) }) else { throw Overtaken() }
        let occasion = HookRunner.Occasion(
            kind: .postProcess, hook: hook, task: id, file: directory.path(of: working.name),
            name: working.finalName, description: task.hookDescription)
        let stop = HookStop()
        control.setHook(stop)
        let report = await services.hooks.run(occasion, stop: stop)
        control.setHook(nil)
        switch report?.end {
        case .exited(0): return true
        case .stopped: return false
        case .some(let end): throw Self.failure(of: hook, end.sentence)
        case nil: throw Self.failure(of: hook, "is no longer configured")
        }
    }

    private func open(
        _ working: ReadyFile, by hook: String, in directory: DirectoryHandle
    ) async throws -> PartialFile {
        do throws(FileError) {
            return try await services.pool(in: directory).run { () throws(FileError) in
                try PartialFile.open(in: directory, named: working.name)
            }
        } catch {
            switch error {
            case .missing: throw Self.failure(of: hook, "left no file")
            case .notAPartialFile(_, let problem): throw Self.failure(of: hook, "left something else: \(problem)")
            default: throw error
            }
        }
    }

    /// Opens the file if it is unchanged since it was recorded; nil if it is not, or if it was never finished.
    private func reopen(_ ready: ReadyFile, in directory: DirectoryHandle) async throws -> PartialFile? {
        guard let facts = ready.facts else { return nil }
        return try await services.pool(in: directory).run { () throws(FileError) in
            do throws(FileError) {
                let file = try PartialFile.open(in: directory, named: ready.name)
                if try file.facts().isSame(as: facts) { return file }
                file.close()
                return nil
            } catch {
                switch error {
                case .missing, .notAPartialFile: return nil
                default: throw error
                }
            }
        }
    }

    /// Deletes a hook's copy and the files it made beside it, then the row. A part stays.
    private func forget(_ ready: ReadyFile, in directory: DirectoryHandle) async throws {
        if ready.isProcessed {
            try await services.pool(in: directory).run { _ = try directory.remove(beginningWith: ready.name) }
        }
        let id = taskID
        try await services.store.write(.gathered) { try $0.readyFiles.remove(of: id) }
    }

    private static func failure(of hook: String, _ what: String) -> TransferError {
        TransferError(
            .postProcessFailed, "the hook \"\(hook)\" \(what); nothing is published, the received bytes are kept")
    }
}

extension Transfer {
    /// A random name: a hook that outlived its daemon must not open the next hook's copy.
    fileprivate func workingName() -> String {
        "\(Self.namePrefix(tag))\(id)-\(String(UInt64.random(in: 0 ... .max), radix: 16)).hook"
    }
}
