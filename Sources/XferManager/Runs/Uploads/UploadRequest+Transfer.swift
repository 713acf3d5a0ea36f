import XferCore
import XferCurl
import XferModel

extension TransferRequest {
    /// Converts this request to one of an upload's. If the upload resource has another origin, the credentials are
    /// removed.
    func forUpload(_ upload: UploadRequest) -> TransferRequest {
        var request = self
        request.url = upload.url
        request.method = upload.method
        if upload.url.origin != url.origin {
            request.headers.removeAll {
                Redaction.isSecretHeader($0.name) || $0.name.equalsIgnoringASCIICase("Host")
            }
            request.credential = nil
            request.clientCertificate = nil
        }
        request.headers = upload.fields(with: request.headers)
        return request
    }
}

extension TusConcatenation {
    /// The upload of a task in parts.
    init?(_ specification: TaskSpecification, _ content: OpenedContent, length: Int64, parts: Int) {
        self.init(
            url: specification.request.url, length: length, metadata: content.metadata(for: specification),
            parts: parts)
    }
}

extension TusUpload {
    /// The upload of a task, or of a part of it.
    ///
    /// - Parameter chunkSize: the service's, for tasks that set none; 0 is unlimited.
    init(
        _ specification: TaskSpecification, _ content: OpenedContent, _ part: UploadPart, chunkSize: Int64,
        _ resumeData: UploadResumeData?
    ) {
        self.init(
            url: specification.request.url,
            length: part.range.upperBound.subtractingSaturated(part.range.lowerBound),
            metadata: content.metadata(for: specification), resumeData: resumeData,
            chunkSize: specification.upload.chunkSize ?? (chunkSize > 0 ? chunkSize : nil),
            createsWithContent: specification.upload.createsWithContent == true, isPart: part.number != nil)
    }
}

extension ResumableUpload {
    /// The upload of a task.
    init(_ specification: TaskSpecification, length: Int64, _ resumeData: UploadResumeData?) {
        self.init(
            method: specification.request.method, url: specification.request.url, length: length,
            mayRepeat: RepetitionRules.mayRepeatRequest(of: specification), resumeData: resumeData)
    }
}

extension OpenedContent {
    /// The name of the file, if the content is a single file.
    var filename: String? {
        guard case .file(let file) = content else { return nil }
        return file.source.path.split(separator: "/").last.map(String.init)
    }

    /// The value of `Upload-Metadata`. The client's own takes precedence over the file's name and type.
    fileprivate func metadata(for specification: TaskSpecification) -> String {
        let headers = specification.request.headers
        return headers.firstValue(named: "Upload-Metadata")
            ?? TusUpload.metadata(
                filename: filename ?? "upload",
                mediaType: headers.firstValue(named: "Content-Type") ?? "application/octet-stream")
    }

    /// A range of the content; nil if the content has no ranges that can be sent.
    func part(_ range: Range<Int64>) -> AttemptContent? {
        switch content {
        case .bytes(let bytes):
            .bytes(Array(bytes.prefix(Int(clamping: range.upperBound)).dropFirst(Int(clamping: range.lowerBound))))
        case .file(let file):
            .file(
                AttemptFile(
                    descriptor: file.descriptor, offset: file.offset.addingSaturated(range.lowerBound),
                    length: range.upperBound.subtractingSaturated(range.lowerBound),
                    source: file.source))
        case .parts, nil: nil
        }
    }
}
