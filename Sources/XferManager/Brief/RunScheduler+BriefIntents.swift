import XferCore
import XferFiles
import XferModel
import XferStore

/// Handles files of brief runs that may have their names although their ends are not committed: after a crash, a
/// storage failure or a failed sync.
extension RunScheduler {
    /// Compares the names with the intents. A task whose file certainly has no name runs again from the beginning. Any
    /// other gets a transfer with the intent, and its next run finds out: see `DownloadRun.finishPublishing`.
    ///
    /// - Parameter ids: the tasks; nil is all that have an intent, while no brief run is live.
    func settleBriefIntents(of ids: Set<TaskID>? = nil) async throws {
        let found = try await store.read { try $0.briefIntents.all() }
        // Directories that did not answer: they are not opened again for each of their files.
        var silent: Set<BriefRuns.Place> = []
        for (id, intent) in found where ids?.contains(id) ?? true {
            let mayHaveName = try await mayHaveName(intent, of: id, &silent)
            let now = clock()
            try await store.write { tx in
                try tx.asStarter {
                    if mayHaveName { try tx.adoptBriefIntent(intent, of: id, at: now) }
                    try tx.briefIntents.remove(of: [id])
                }
            }
        }
    }

    private func mayHaveName(
        _ intent: PublishIntent, of id: TaskID, _ silent: inout Set<BriefRuns.Place>
    ) async throws -> Bool {
        guard
            let task = try await store.read({ reader in try StoreError.nilIfUnreadable { try reader.tasks.find(id) } }),
            task.state == .queued
        else { return false }
        let place = BriefRuns.Place(task.specification)
        guard !silent.contains(place) else { return true }
        let publisher = BriefPublisher(services: services, settings: settings, failedURLs: failedURLs)
        do {
            let directory = try await publisher.openDirectory(of: task.specification)
            return try await services.recover(intent, partName: nil, in: directory) == .done
        } catch {
            silent.insert(place)
            // The directory may come back with the file in it.
            return true
        }
    }
}
