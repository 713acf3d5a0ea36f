import Logging
import XferFiles
public import XferModel
import XferStore

/// A range of a kept response.
public struct ResultPage: Hashable, Sendable {
    public var bytes: [UInt8]
    /// The offset of the first byte.
    public var offset: Int64
    /// The length of the whole response, in bytes.
    public var length: Int64
    /// True if these bytes are the last.
    public var isLast: Bool
    /// The JSON text of the object parsed from the whole body; only with offset 0.
    public var object: String?
}

/// Reads kept responses.
extension ByteReader {
    /// The highest length of a page, in bytes.
    public static let largestResultPage = 1 << 20

    /// Returns up to `length` bytes of a task's response from `offset` on; none at its end or beyond.
    ///
    /// - Throws: `ManagerError`: `notFound`, or `noResult` if no response is stored, or no longer.
    public func result(
        of id: TaskID, offset: Int64, length: Int, for principal: Principal
    ) async throws -> ResultPage {
        let (task, stored) = try await store.read { reader in
            guard let task = try reader.visibleTask(id, to: principal) else { throw ManagerError.notFound(id) }
            return (task, try reader.results.find(of: id))
        }
        guard let stored else { throw ManagerError.noResult(id, task.state) }
        let rest = max(0, stored.length.subtractingSaturated(offset))
        let wanted = min(length, Self.largestResultPage, Int(clamping: rest))
        let bytes: [UInt8]
        switch stored.content {
        case .inline(let content):
            bytes = Array(content.dropFirst(Int(clamping: offset)).prefix(max(0, wanted)))
        case .file(let name):
            let spool = services.spool
            do {
                bytes = try await services.pool.run { () throws(FileError) in
                    try spool.read(name, at: offset, upTo: wanted)
                }
            } catch FileError.missing {
                try await forgetResult(of: id, inFile: name)
                throw ManagerError.noResult(id, task.state)
            }
        }
        return ResultPage(
            bytes: bytes, offset: offset, length: stored.length,
            isLast: offset.addingSaturated(Int64(bytes.count)) >= stored.length,
            object: offset == 0 ? stored.object : nil)
    }

    /// Removes the row of a response whose file was deleted from the spool directory by another process.
    private func forgetResult(of id: TaskID, inFile name: String) async throws {
        logger.warning("a stored response was missing from the spool directory", metadata: ["task": "\(id)"])
        try await translatingStoreErrors {
            try await store.write { tx in
                guard case .file(name)? = try tx.results.find(of: id)?.content else { return }
                try tx.results.remove(of: id)
            }
        }
    }
}
