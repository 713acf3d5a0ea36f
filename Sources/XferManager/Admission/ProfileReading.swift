import XferModel
import XferStore

/// Reads the profiles when the first task of a call names one, so that every task is checked against the same
/// profiles on any processor.
actor ProfileReading {
    private let store: TaskStore
    private var reading: Task<[Profile], any Error>?

    init(store: TaskStore) { self.store = store }

    func all() async throws -> [Profile] {
        let reading = reading ?? Task { [store] in try await store.read { try $0.profiles() }.map(\.profile) }
        self.reading = reading
        return try await reading.value
    }
}
