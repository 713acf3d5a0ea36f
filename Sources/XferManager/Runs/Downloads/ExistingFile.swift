import XferFiles
import XferModel
import XferStore

/// A file that has the final name already, and the digest that a task demands.
///
/// The digest is that of the received bytes. If a hook changes them, it does not apply to the file under the name, and
/// nothing is compared.
struct ExistingFile: Sendable {
    let name: String
    let directory: DirectoryHandle
    let specification: TaskSpecification
    let services: RunServices

    private var demanded: Checksum? {
        specification.completion.postProcess == nil ? specification.checksum : nil
    }

    /// Throws unless the file has the demanded digest. Returns at once if none is demanded.
    ///
    /// - Throws: `destinationExists`, `FileError`; `FileError.cancelled` if `isCancelled` returns true.
    func requireDemandedDigest(isCancelled: @escaping @Sendable () -> Bool = { false }) async throws {
        guard let demanded else { return }
        let found = try await digest(demanded.algorithm, isCancelled)
        guard found != demanded else { return }
        let has = found.map { "has \($0.description)" } ?? "is not a regular file"
        throw TransferError(
            .destinationExists,
            "\(directory.path(of: name)) exists and \(has), but the task demands \(demanded.description); it stays unchanged"
        )
    }

    /// True if a digest is demanded and a regular file has it.
    func hasDemandedDigest(isCancelled: @escaping @Sendable () -> Bool) async throws -> Bool {
        guard let demanded else { return false }
        return try await digest(demanded.algorithm, isCancelled) == demanded
    }

    /// True if a digest is demanded and the file, if there is one, has another.
    func isSpoiled(isCancelled: @escaping @Sendable () -> Bool) async throws -> Bool {
        guard let demanded, let found = try await digest(demanded.algorithm, isCancelled) else { return false }
        return found != demanded
    }

    /// The digest of the file, or nil if no regular file has the name.
    private func digest(
        _ algorithm: Checksum.Algorithm, _ isCancelled: @escaping @Sendable () -> Bool
    ) async throws -> Checksum? {
        let (directory, name) = (directory, name)
        return try await services.paths.digests(in: directory).run { () throws(FileError) in
            let file: ReadableFile
            do throws(FileError) {
                file = try ReadableFile(in: directory, named: name)
            } catch {
                guard case .missing = error else { throw error }
                return nil
            }
            try file.requireReadable(in: directory)
            return try file.digest(algorithm, length: file.facts().length, isCancelled: isCancelled)
        }
    }
}
