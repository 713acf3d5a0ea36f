import NIOConcurrencyHelpers
import XferFiles
import XferModel

/// Room for what is to come: claimed of the file system, and, where there is much of it, reserved as blocks of the file.
///
/// Reserved blocks lie together, and nobody else can take them; small files are written at once and gain nothing.
extension SharedTransfer {
    /// Bytes that have to be missing for blocks to be reserved.
    private static var leastReserved: Int64 { 8 << 20 }

    /// Waits for space when the rest is known not to fit.
    func makeRoom(for part: PartialFile, in directory: DirectoryHandle) async throws {
        guard reserve != .whole, let total = described.totalLength else { return }
        let remaining = max(0, total.subtractingSaturated(committed))
        let id = transfer.id
        try await claim(remaining, by: id, in: directory, for: "the remaining \(remaining) and the reserve")
        guard remaining >= Self.leastReserved else { return }
        reserve = .some
        let free = try await services.pool.run { () throws(FileError) -> Int64? in
            part.preallocate(upTo: total) ? try directory.freeSpace() : nil
        }
        guard let free else { return }
        reserve = .whole
        services.space.withLockedValue { ledger in
            ledger.note(free: free, on: directory.fileSystemID, at: Clocks.monotonic())
            ledger.set(remaining: 0, for: id, on: directory.fileSystemID)
        }
    }

    /// So much has been written and is not free any more.
    func noteRoom() {
        guard reserve != .whole, let total = described.totalLength else { return }
        services.space.withLockedValue { $0.advance(transfer.id, to: total.subtractingSaturated(committed)) }
    }

    /// Fetches; whoever does not go on gives back what was reserved for the rest.
    func fetchWithinReserve(of part: PartialFile, in directory: DirectoryHandle) async throws -> Delivery {
        do {
            let fetched = try await fetch(into: part, in: directory)
            if case .whole = fetched { return fetched }
            try await giveUpReserve(of: part)
            return fetched
        } catch {
            // Why it ended is what counts: the next run cuts the file to what is committed.
            try? await giveUpReserve(of: part)
            throw error
        }
    }

    private func giveUpReserve(of part: PartialFile) async throws {
        guard reserve != .none else { return }
        reserve = .none
        try await services.pool.run { try part.releaseReserve() }
    }
}

/// What was reserved of a file's disk blocks.
enum BlockReserve {
    case none
    /// Perhaps some: there was not room for all, or the file system does not do that.
    case some
    /// All that the rest needs.
    case whole
}
