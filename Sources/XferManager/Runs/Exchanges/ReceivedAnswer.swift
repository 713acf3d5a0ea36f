import XferCore
import XferCurl
import XferFiles
import XferModel

/// The outcome of a request, and the file of the response's body if the body is large.
struct ReceivedAnswer: Sendable {
    var outcome: AttemptOutcome
    var spill: SpoolFile

    /// The length of the body in bytes, as received or decoded.
    fileprivate var length: Int64 { outcome.spilledLength ?? Int64(clamping: outcome.body?.count ?? 0) }
}

extension AttemptMaker {
    /// Verifies a response's body by the digest that the server announced, and removes the content codings that the
    /// request accepted. An incomplete response is returned unchanged.
    ///
    /// The work runs on the digest threads, so that the engine's loop decodes nothing. If the body is damaged, the
    /// attempt fails, unless the status is an error (400 or above): such a response stays as received.
    func openAnswer(_ answer: ReceivedAnswer, to request: TransferRequest) async throws -> ReceivedAnswer {
        guard case .complete = answer.outcome.result, let head = answer.outcome.head, request.method != .head,
            head.status != 204, head.status != 304
        else { return answer }
        do {
            services.logIgnoredDigests(of: head, for: request, taskID)
            try await verify(answer, head, to: request)
            return try await decode(answer, head)
        } catch {
            var ended = answer
            ended.outcome.result = .stopped
            if control.isStopRequested { return ended }
            guard let error = error as? TransferError else { throw error }
            guard head.status < 400 else { return answer }
            ended.outcome.result = .failed(error)
            return ended
        }
    }

    /// Digests of a message or representation cover the bytes as sent, content codings included (RFC 9530 §2, §3).
    private func verify(_ answer: ReceivedAnswer, _ head: ResponseHead, to request: TransferRequest) async throws {
        guard let expected = request.announcedDigest(of: head) else { return }
        let (control, length, body) = (control, answer.length, answer.outcome.body ?? [])
        let file = answer.outcome.spilledLength.map { _ in answer.spill }
        let found = try await services.digests.run { () throws(FileError) in
            guard let file else { return try FileDigest.compute(body, algorithm: expected.algorithm) }
            return try FileDigest.compute(
                descriptor: file.descriptor, algorithm: expected.algorithm, length: length,
                isCancelled: { control.isStopRequested })
        }
        guard found != expected else { return }
        throw TransferError(
            .checksumMismatch,
            "the server announced \(expected.description), the \(length) bytes received have \(found.description)",
            httpStatus: head.status, host: answer.outcome.finalURL.hostKey, cause: .announcedDigest)
    }

    private func decode(_ answer: ReceivedAnswer, _ head: ResponseHead) async throws -> ReceivedAnswer {
        let outcome = answer.outcome
        // An empty body whose `Content-Length` is 0 has nothing to decode.
        guard !outcome.codings.isEmpty, answer.length > 0 || head.contentLength != 0 else { return answer }
        let decoding = ContentDecoding(
            outcome.codings,
            limits: ContentDecoding.Limits(
                inMemory: settings.largestInlineResult, bytes: settings.largestResult,
                ratio: Int64(clamping: settings.largestResultRatio)))
        let source: ContentDecoding.Source =
            outcome.spilledLength.map { ContentDecoding.Source.file(descriptor: answer.spill.descriptor, length: $0) }
            ?? .bytes(outcome.body ?? [])
        let (control, spool, host) = (control, services.spool, outcome.finalURL.hostKey)
        let target = try await services.pool.run { () throws(FileError) in try spool.makeFile() }
        let content = try await services.digests.run { () throws(TransferError) in
            do throws(ContentDecodingError) {
                return try decoding.run(source, into: target.descriptor, isCancelled: { control.isStopRequested })
            } catch {
                throw error.transferError(host: host)
            }
        }
        withExtendedLifetime(answer.spill) {}
        var decoded = ReceivedAnswer(outcome: outcome, spill: target)
        switch content {
        case .bytes(let bytes):
            decoded.outcome.body = bytes
            decoded.outcome.spilledLength = nil
        case .file(let length):
            decoded.outcome.body = nil
            decoded.outcome.spilledLength = length
        }
        decoded.outcome.isDecoded = true
        decoded.outcome.offset = decoded.length
        decoded.outcome.total = decoded.length
        return decoded
    }
}
