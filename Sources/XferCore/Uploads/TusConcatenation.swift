public import XferModel

/// A tus upload in parts that are sent at the same time, and that the server joins (tus 1.0, Concatenation).
///
/// Each part is an upload of its own (`TusUpload`), which survives interruptions and restarts. When the server has all
/// of them, a final upload joins them in their order. A server that does not announce the extension gets one upload.
public struct TusConcatenation: Hashable, Sendable {
    /// The smallest part, in bytes: a smaller one is not worth its requests.
    public static let smallestPart: Int64 = 1 << 20

    /// A server's answer to the inquiry about the extension.
    public enum Support: Hashable, Sendable {
        case joins
        case lacks
        case failed(TransferError)
    }

    /// The server's upload collection, in which uploads are created.
    private let url: HTTPURL
    private let metadata: String
    /// The parts of the source, in order and without gaps; two at least.
    public let parts: [Range<Int64>]

    /// Divides a source, always in the same way; nil if it would be one part.
    ///
    /// - Parameters:
    ///   - metadata: as in `TusUpload`.
    ///   - count: the parts that the client wants; there are fewer if they would be smaller than `smallestPart`.
    public init?(url: HTTPURL, length: Int64, metadata: String, parts count: Int) {
        let most = min(Int64(clamping: min(count, UploadOptions.mostParts)), length / Self.smallestPart)
        guard most >= 2 else { return nil }
        let (size, rest) = length.quotientAndRemainder(dividingBy: most)
        var start: Int64 = 0
        var parts: [Range<Int64>] = []
        for index in 0..<most {
            let end = start + size + (index < rest ? 1 : 0)
            parts.append(start..<end)
            start = end
        }
        (self.url, self.metadata, self.parts) = (url, metadata, parts)
    }

    /// The request for the server's extensions. Only this request has no version.
    public var inquiry: UploadRequest { UploadRequest(.options, url, headers: []) }

    /// Reads the answer to the inquiry. A server that refuses the inquiry has no extensions.
    public func support(in head: ResponseHead, at now: Timestamp) -> Support {
        switch head.status {
        case 200...299:
            let names = (head.value("Tus-Extension") ?? "").lowercased().split { $0 == "," || $0 == " " }
            return names.contains("concatenation") ? .joins : .lacks
        case 401, 408, 423, 425, 429, 500, 502...599:
            return .failed(UploadJudgement.error(head, from: url, now: now))
        default:
            return .lacks
        }
    }

    /// The request that joins the parts. It is sent with empty content, since some servers require a length for every
    /// POST (RFC 9110 §8.6).
    ///
    /// - Parameter places: the upload resources of all parts, in order.
    public func joining(_ places: [HTTPURL]) -> UploadRequest {
        UploadRequest(
            .post, url,
            headers: [
                TusUpload.version,
                HeaderField(name: "Upload-Concat", value: "final;" + places.map(\.string).joined(separator: " ")),
                HeaderField(name: "Upload-Metadata", value: metadata),
            ], content: 0..<0)
    }

    /// The step after the answer to the request that joins the parts.
    func step(after head: ResponseHead, at now: Timestamp) -> UploadStep {
        if let fault = TusUpload.versionFault(in: head) { return .fail(fault) }
        switch head.status {
        case 201:
            return UploadStep(.completed(keepsResponse: true))
        case 404, 410:
            // The next run asks for the offset of each part, and sends again the missing ones.
            return UploadStep(
                .fail(
                    TransferError(
                        .uploadRejected, "the server has lost a part of the upload (\(head.status))",
                        isRetriable: true, httpStatus: head.status, host: url.hostKey)))
        case 413:
            return .fail("the parts together are too large for the server (413)")
        case 200...299:
            return .fail("the server answered \(head.status) where tus requires 201: it may not have joined the parts")
        default:
            return UploadJudgement.failure(head, from: url, now: now)
        }
    }
}

/// A request of a `TusConcatenation` that does not concern a single upload resource, as a machine of one step.
public struct TusConcatenationRequest: UploadMachine {
    private let concatenation: TusConcatenation
    /// The upload resources of the parts to join; nil for the inquiry.
    private let places: [HTTPURL]?

    public init(_ concatenation: TusConcatenation, joining places: [HTTPURL]? = nil) {
        self.concatenation = concatenation
        self.places = places
    }

    public var resumeData: UploadResumeData? { nil }

    public mutating func onStart(at now: Timestamp) -> UploadStep {
        UploadStep(.send(places.map(concatenation.joining) ?? concatenation.inquiry))
    }

    public mutating func onInterim(_ head: ResponseHead, location: HTTPURL?, at now: Timestamp) -> UploadStep {
        UploadStep(.goOn)
    }

    /// The answer to the inquiry is for `TusConcatenation.support`.
    public mutating func onAnswer(_ head: ResponseHead, location: HTTPURL?, at now: Timestamp) -> UploadStep {
        places == nil ? UploadStep(.answered(mayRetry: true)) : concatenation.step(after: head, at: now)
    }

    public mutating func onBroken(_ error: TransferError, wasSent: Bool) -> UploadStep { UploadStep(.fail(error)) }

    public mutating func onInterrupted() -> UploadStep {
        preconditionFailure("no request of this protocol is ever interrupted")
    }

    public static func cancellation(of data: UploadResumeData) -> UploadRequest { TusUpload.cancellation(of: data) }
}
