import XferCore
import XferCurl
import XferModel
import XferStore

/// A tus upload in parts that are sent at the same time; see `TusConcatenation`.
extension UploadRun {
    /// Sends the source in parts. Returns nil if it is sent as one: the task wants that, the source is too small, an
    /// earlier run began so, or the server does not join parts.
    func runInParts(_ content: OpenedContent, length: Int64) async throws -> RunEnd? {
        guard recorded == nil, let count = specification.upload.parts,
            let whole = TusConcatenation(specification, content, length: length, parts: count)
        else { return nil }
        let id = transfer.id
        recordedParts = try await services.store.read { try $0.transfers.uploadParts(of: id) }
        if recordedParts.isEmpty {
            switch try await drive(TusConcatenationRequest(whole), nil, sending: content) {
            case .answered(let answer, _):
                switch whole.support(in: answer.head, at: services.clock()) {
                case .joins: break
                case .lacks:
                    pendingEvents.append(
                        .taskWarning(
                            warning: "the server does not announce that it joins parts (tus: concatenation); the "
                                + "upload is sent as one"))
                    return nil
                case .failed(let error): return .failed(error)
                }
            case .failed(let error): return .failed(error)
            case .stopped: return .stopped
            case .completed: throw TransferError(.internalError, "an inquiry completed an upload")
            }
        }
        for (number, range) in whole.parts.enumerated() {
            guard let data = recordedParts[number] else { continue }
            show(data.offset, of: UploadPart(number: number, range: range), total: length)
        }
        if let end = try await sendParts(of: whole, content) { return end }
        return try await join(whole, content, length: length)
    }

    /// Sends all parts at the same time. Returns nil once the server has them; else how the first one ended that did
    /// not complete, after the others have stopped.
    private func sendParts(of whole: TusConcatenation, _ content: OpenedContent) async throws -> RunEnd? {
        try await withThrowingTaskGroup(of: RunEnd?.self) { group in
            for (number, range) in whole.parts.enumerated() {
                let part = UploadPart(number: number, range: range)
                group.addTask { try await self.send(part, content) }
            }
            var end: RunEnd?
            var failure: (any Error)?
            while let result = await group.nextResult() {
                switch result {
                case .success(nil): continue
                case .success(let ended): end = end ?? ended
                case .failure(let error): failure = failure ?? error
                }
                await stopParts()
            }
            if let failure { throw failure }
            return end
        }
    }

    /// Stops the parts that are in progress or begin meanwhile. The next run continues them.
    private func stopParts() async {
        for attempt in control.endAttempts() { await services.engine.stop(attempt.id) }
    }

    /// Returns nil once the server has the part.
    private func send(_ part: UploadPart, _ content: OpenedContent) async throws -> RunEnd? {
        switch try await drive(tusUpload(of: part, content), part, sending: content) {
        case .completed: return nil
        case .failed(let error): return .failed(error)
        case .stopped: return .stopped
        case .answered: throw TransferError(.internalError, "a part of an upload ended with an answer")
        }
    }

    private func join(_ whole: TusConcatenation, _ content: OpenedContent, length: Int64) async throws -> RunEnd {
        let places = whole.parts.indices.compactMap { recordedParts[$0]?.url }
        guard places.count == whole.parts.count else {
            throw TransferError(.internalError, "a part of an upload has no resource")
        }
        switch try await drive(TusConcatenationRequest(whole, joining: places), nil, sending: content) {
        case .completed(let answer, _): return try await complete(with: answer, after: answer, length: length)
        case .failed(let error): return .failed(error)
        case .stopped: return .stopped
        case .answered: throw TransferError(.internalError, "a final upload ended with an answer")
        }
    }
}
