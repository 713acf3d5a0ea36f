import NIOConcurrencyHelpers
import XferFiles
import XferModel

/// Disk space for the bytes to come: claimed in the space ledger, and for large bodies preallocated as blocks of the
/// file.
///
/// Preallocated blocks are contiguous, and no other file can use them. A small file is written at once and gains
/// nothing.
extension SharedTransfer {
    /// The missing bytes from which on blocks are preallocated.
    private static var leastReserved: Int64 { 8 << 20 }

    /// Fails with `insufficient_space` if the rest is known not to fit.
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

    /// Reduces the claim by the bytes that are committed.
    func noteRoom() {
        guard reserve != .whole, let total = described.totalLength else { return }
        services.space.withLockedValue { $0.advance(transfer.id, to: total.subtractingSaturated(committed)) }
    }

    /// Fetches the body, and releases the preallocated blocks unless the body is whole.
    func fetchWithinReserve(of part: PartialFile, in directory: DirectoryHandle) async throws -> Delivery {
        do {
            let fetched = try await fetch(into: part, in: directory)
            if case .whole = fetched { return fetched }
            try await giveUpReserve(of: part)
            return fetched
        } catch {
            // The original error is reported. The next run truncates the file to the committed bytes anyway.
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

/// Which disk blocks are preallocated for a file.
enum BlockReserve {
    case none
    /// Perhaps some: there was not enough space, or the file system does not support it.
    case some
    /// All that the rest of the body needs.
    case whole
}
