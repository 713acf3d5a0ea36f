import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferSystem

extension RunServices {
    /// Claims bytes of the file system for a transfer, or throws `insufficientSpace` if they are known not to fit.
    func claim(
        _ remaining: Int64, by id: TransferID, in directory: DirectoryHandle, for purpose: String
    ) async throws {
        let isSure = space.withLockedValue { ledger in
            let isSure = ledger.surelyFits(
                remaining: remaining, for: id, on: directory.fileSystemID, at: Clocks.monotonic())
            if isSure { ledger.set(remaining: remaining, for: id, on: directory.fileSystemID) }
            return isSure
        }
        if isSure { return }
        let free = try await pool.run { try directory.freeSpace() }
        let shortfall = space.withLockedValue { ledger in
            ledger.record(free: free, on: directory.fileSystemID, at: Clocks.monotonic())
            let shortfall = ledger.shortfall(remaining: remaining, for: id, on: directory.fileSystemID, free: free)
            if shortfall == 0 { ledger.set(remaining: remaining, for: id, on: directory.fileSystemID) }
            return shortfall
        }
        guard shortfall == 0 else {
            throw TransferError(.insufficientSpace, "\(directory.path) lacks \(shortfall) bytes for \(purpose)")
        }
    }
}
