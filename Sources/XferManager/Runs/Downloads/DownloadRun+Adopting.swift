import XferCore
import XferFiles
import XferModel

/// Continues a file that another program has left (`on_conflict: continue`).
///
/// Its bytes are copied into the partial file, so that it stays unchanged until the new file is published.
extension DownloadRun {
    /// The file whose bytes are continued; nil if the task continues none, has bytes already, or has to fetch the
    /// whole.
    ///
    /// - Throws: `destinationExists` if nothing would show that the bytes are right, and the file has the task's name:
    ///   its owner decides. A digest that is too weak to join bytes shows nothing.
    func adoptedFile(in directory: DirectoryHandle) async throws -> AdoptedFile? {
        guard specification.destination.onConflict == .continue, !hasIntent,
            transfer.resumeData.committedByteCount == 0,
            // Bytes that were put together were wrong.
            transfer.sourceUse.suspects.isEmpty
        else { return nil }
        let name = await finalName(in: directory)
        let found = try await services.paths.run(in: directory) { _ in
            try UnfinishedFile.find(name, in: directory)
        }
        guard let found else { return nil }
        let proof = AdoptionRules.proof(
            for: specification, modifiedAt: found.facts.modifiedAt, changedAt: found.facts.changedAt)
        guard let proof else {
            let isStrong = specification.checksum?.algorithm.isStrong == true
            guard !isStrong, found.name == name else { return nil }
            let weak = specification.checksum?.algorithm.rawValue
            let digest = weak.map { "; \($0) is too weak to join them to the rest" }
            let way = (weak == nil ? "set a checksum, or " : "") + "allow it with resume: unsafe"
            throw TransferError(
                .destinationExists,
                "\(found.path) exists and cannot be continued: nothing shows that its \(found.facts.length) bytes are "
                    + "of the version that the server has\(digest ?? ""); \(way)",
                cause: .unprovenBeginning)
        }
        return AdoptionRules.resumeData(complete: found.complete, total: found.total, proof: proof)
            .map { AdoptedFile(source: found, resumeData: $0) }
    }

    /// The decision about the existing file; nil under other policies.
    ///
    /// - Parameter file: the finished file; nil if a hook has made it.
    func continuedFile(named name: String, by file: PartialFile?, in directory: DirectoryHandle) async throws
        -> ContinuedFile?
    {
        guard specification.destination.onConflict == .continue else { return nil }
        let (specification, control) = (specification, control)
        return try await services.paths.digests(in: directory).run { () throws(FileError) in
            try ContinuedFile(
                named: name, continuedBy: file, for: specification, in: directory,
                isCancelled: { control.isStopRequested })
        }
    }
}
