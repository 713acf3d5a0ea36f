import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferStore

/// `spool: true`: files to be sent are copied before the add returns, so that the client may change or delete them
/// then.
extension RunServices {
    /// The tasks with their files replaced by copies, and the copies. No row names these before the add is committed.
    ///
    /// - Parameter room: kept by the caller until then.
    func spoolSources(
        of admitted: [AdmittedTask], in room: SpoolRoom, path: @Sendable (Int) -> String
    ) async throws -> (tasks: [AdmittedTask], files: [SpoolFile]) {
        guard admitted.contains(where: \.wantsSpooling) else { return (admitted, []) }
        var tasks = admitted
        var copies: [SpoolFile] = []
        do {
            for index in tasks.indices where tasks[index].wantsSpooling {
                guard let body = tasks[index].insertion.body else { continue }
                try await room.claim(body.sources.map(\.length).saturatedSum)
                let (spooled, files) = try await copySources(
                    of: body, for: tasks[index].specification.owner, path: path(index))
                copies += files
                tasks[index].insertion = try tasks[index].insertion.changing(body: spooled)
            }
        } catch {
            removeSpoolFiles(copies.map(\.name))
            throw error
        }
        return (tasks, copies)
    }

    private func copySources(
        of body: RequestBody, for owner: Owner, path: String
    ) async throws -> (RequestBody, [SpoolFile]) {
        let length = body.sources.map(\.length).saturatedSum
        do throws(FileError) {
            return try await pool.run { [rights, spool, space] () throws(FileError) in
                let admission = rights.sources(of: owner)
                return try space.claiming(length, in: spool.directory) {
                    (onProgress) throws(FileError) -> (RequestBody, [SpoolFile]) in
                    var files: [SpoolFile] = []
                    var written: Int64 = 0
                    let copied = try body.mappingSources { (source) throws(FileError) in
                        let before = written
                        let file = try spool.copy(of: source, by: admission) { onProgress(before.addingSaturated($0)) }
                        written = written.addingSaturated(source.length)
                        files.append(file)
                        var copy = source
                        copy.spoolName = file.name
                        return copy
                    }
                    return (copied, files)
                }
            }
        } catch {
            throw ManagerError.invalidField(
                path: path + "spool", reason: error.description,
                expected: "room for a copy of a file that does not change")
        }
    }

    /// Deletes copies that an add did not need, because its client key belongs to an earlier task.
    func removeUnwanted(_ files: [SpoolFile]) async {
        guard !files.isEmpty else { return }
        let names = files.map(\.name)
        let unwanted = try? await store.read { reader in
            try names.filter { try !reader.spool.isWanted(spoolFile: $0) }
        }
        removeSpoolFiles(unwanted ?? [])
    }
}

extension AdmittedTask {
    fileprivate var wantsSpooling: Bool {
        specification.upload.isSpooled && insertion.body?.sources.isEmpty == false
    }
}
