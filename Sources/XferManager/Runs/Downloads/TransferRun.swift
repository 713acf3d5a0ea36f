import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// A download on its way to its file: opens its partial file, makes attempts, checkpoints, verifies and publishes.
///
/// It commits checkpoints, dropped resume data and the publish intent itself.
actor TransferRun: TaskRun {
    let context: RunContext
    var facts: RunFacts
    /// Durable bytes, as committed.
    var committed: Int64 = 0
    /// What describes the bytes in the partial file, those not yet checkpointed included.
    var described = ResumeData() {
        didSet {
            control.note(
                isResumable: ResumeRules.isResumable(described, allowsUnsafe: specification.resumesUnsafely))
        }
    }
    /// From the last response's head.
    var announcedDigest: Checksum?
    var lastModified: Timestamp?
    var suggestedName: String?

    init(_ context: RunContext, _ facts: RunFacts) {
        self.context = context
        self.facts = facts
    }

    var keptByteCount: Int64 { committed }

    func run() async throws -> RunEnd {
        let directory = try await DestinationDirectory.open(
            transfer.partial, for: specification.owner, settings, on: services.pool)
        let ready = try await readyFile()
        if let end = try await finishPublishing(ready, in: directory) { return end }
        if let ready, let end = try await goOn(with: ready, in: directory) { return end }
        if specification.destination.name != nil, let end = try await endAtHead(in: directory) { return end }
        let part = try await openPart(in: directory)
        defer { part.close() }
        try await judgeKeptBytes(in: part)
        try await makeRoom(in: directory)

        switch try await fetch(into: part, in: directory) {
        case .complete(let length):
            control.enter(.verifying)
            await onBodyEnd()
            let end = try await publish(part, length: length, in: directory)
            if case .stopped = end { try await checkpoint(part, at: length, keeping: described, isLast: true) }
            return end
        case .notModified:
            outcome.notModified = true
            return try already(published: finalName, in: directory)
        case .ended(let end):
            return end
        }
    }

    // MARK: Before the first byte

    /// `skip` and `fail` are looked at as soon as the name is known: before the first byte, or at the head.
    func endAtHead(in directory: DirectoryHandle) async throws -> RunEnd? {
        let policy = specification.destination.onConflict
        guard policy == .skip || policy == .fail else { return nil }
        let name = finalName
        let choice = try await services.pool.run {
            try Publisher(directory: directory).chooseName(for: name, policy: policy)
        }
        return choice == .skip ? try skipped(name, in: directory) : nil
    }

    func skipped(_ name: String, in directory: DirectoryHandle) throws -> RunEnd {
        outcome.skipped = true
        return try already(published: name, in: directory)
    }

    private func already(published name: String, in directory: DirectoryHandle) throws -> RunEnd {
        outcome.finalPath = directory.path(of: name)
        return .completed(size: try directory.status(of: name)?.length ?? 0)
    }

    /// Opens the partial file cut back to what is committed. When less is there than was committed, the resume data is
    /// committed away first, so that bytes of a new version never lie under old validators.
    private func openPart(in directory: DirectoryHandle) async throws -> PartialFile {
        let name = transfer.partialName
        let wanted = transfer.resumeData.segments.map(\.committed).max() ?? 0
        let (part, kept) = try await services.pool.run {
            try PartialFile.restore(in: directory, named: name, committed: wanted)
        }
        committed = kept
        described = transfer.resumeData
        if kept == 0, wanted > 0 { try await dropKeptBytes(sourceChange: nil) }
        control.note(received: kept, total: transfer.resumeData.totalLength)
        return part
    }

    /// Bytes of earlier runs count only while the policies in force believe whoever sent them.
    private func judgeKeptBytes(in part: PartialFile) async throws {
        guard committed > 0 else { return }
        let urls = [specification.request.url] + (transfer.resumeData.finalURL.map { [$0] } ?? [])
        let (trust, id) = (trust, taskID)
        let refusal = try await services.pool.run { () throws(TransferError) in try trust.refusalOfKept(from: urls) }
        guard let refusal else { return }
        services.logger.notice(
            "the policies have changed: what was received is given up",
            metadata: ["task": "\(id)", "reason": "\(refusal)"])
        try await dropKeptBytes(sourceChange: nil)
        try await services.pool.run { try part.truncate(to: 0) }
        described = ResumeData()
    }

    /// Waits for space when the rest is known not to fit.
    func makeRoom(in directory: DirectoryHandle) async throws {
        guard let total = described.totalLength else { return }
        let remaining = max(0, total - committed)
        try await claim(remaining, in: directory, for: "the remaining \(remaining) and the reserve")
    }
}
