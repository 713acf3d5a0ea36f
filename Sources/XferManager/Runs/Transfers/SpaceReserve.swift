import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferSystem

/// Disk space for the bytes a transfer has yet to receive: claimed in the space ledger, and for large bodies
/// preallocated as blocks of the file.
///
/// Preallocated blocks are mostly contiguous, and no other file can use them. A small file is written at once, so
/// preallocation would gain nothing. Invariant: while `blocks` is not `none`, a run is live that will release them or
/// finish the body. Confined to the `SharedTransfer` whose `KeptBytes` owns it.
final class SpaceReserve {
    /// The disk blocks that are preallocated for the file.
    enum Blocks {
        case none
        /// Perhaps some, perhaps none: there was not enough space, or the file system does not support preallocation.
        case some
        /// All that the rest of the body needs.
        case whole
    }

    /// The number of missing bytes from which on blocks are preallocated.
    private static let leastReserved: Int64 = 8 << 20

    private let services: RunServices
    private let id: TransferID
    private var blocks = Blocks.none

    init(_ services: RunServices, _ id: TransferID) {
        self.services = services
        self.id = id
    }

    /// Claims space for the rest of the body, and preallocates it if it is large.
    ///
    /// - Throws: `insufficient_space` if the rest is known not to fit.
    func make(for part: PartialFile, total: Int64, committed: Int64, in directory: DirectoryHandle) async throws {
        guard blocks != .whole else { return }
        let remaining = max(0, total.subtractingSaturated(committed))
        // A fast server has sent a part of the rest before its length was handled.
        try await services.claim(remaining, by: id, in: directory, for: "the rest of the file") {
            () throws(FileError) -> Int64 in
            max(0, try part.allocatedSize().subtractingSaturated(committed))
        }
        guard remaining >= Self.leastReserved else { return }
        blocks = .some
        let free = try await services.pool(in: directory).run { () throws(FileError) -> Int64? in
            part.preallocate(upTo: total) ? try directory.freeSpace() : nil
        }
        guard let free else { return }
        blocks = .whole
        services.space.withLockedValue { [id] ledger in
            ledger.record(free: free, on: directory.fileSystemID, at: Clocks.monotonic())
            ledger.set(remaining: 0, for: id, on: directory.fileSystemID)
        }
    }

    /// Reduces the claim to the bytes that are still missing.
    func advance(remaining: Int64) {
        guard blocks != .whole else { return }
        services.space.withLockedValue { [id] in $0.advance(id, to: remaining) }
    }

    /// Records that a truncation of the file has released the preallocated blocks.
    func onTruncated() { blocks = .none }

    /// Cuts the file after its durable bytes: a transfer that waits for room does not take any for the rest.
    ///
    /// - Parameter end: the first offset after all durable bytes.
    func giveUpRest(of part: PartialFile, after end: Int64) async throws {
        blocks = .none
        try await services.pool(in: part.directory).run { () throws(FileError) in
            if try part.length() > end { try part.truncate(to: end) } else { try part.releaseReserve() }
        }
    }

    /// Releases the preallocated blocks without bytes.
    func release(of part: PartialFile) async throws {
        guard blocks != .none else { return }
        blocks = .none
        try await services.pool(in: part.directory).run { try part.releaseReserve() }
    }
}
