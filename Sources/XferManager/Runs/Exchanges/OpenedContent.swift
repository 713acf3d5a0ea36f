import XferCurl
import XferFiles
import XferModel
import XferStore

/// The content of a request, with its files open and found unchanged; they stay open as long as this object exists.
final class OpenedContent: Sendable {
    /// The content, or nil if there is none.
    let content: AttemptContent?
    /// The length in bytes, as far as it is known before the first byte is sent; it includes the boundaries of parts.
    let length: Int64?
    private let files: [SendableFile]

    private init(content: AttemptContent?, length: Int64?, files: [SendableFile]) {
        self.content = content
        self.length = length
        self.files = files
    }

    /// Opens the content of a request.
    ///
    /// - Throws: `FileError.sourceChanged`, `StoreError`, `TransferError`.
    static func open(
        for id: TaskID, _ specification: TaskSpecification, _ services: RunServices
    ) async throws -> OpenedContent {
        guard let body = try await services.store.read({ try $0.bodies.find(of: id) }) else {
            guard specification.request.bodySummary == nil else {
                throw TransferError(.internalError, "the content of this task is lost; add it again")
            }
            return OpenedContent(content: nil, length: 0, files: [])
        }
        let (spool, owner) = (services.spool, specification.owner)
        return try await services.pool(of: owner, forPath: body.sources.first?.path ?? "/").run {
            [rights = services.rights] () throws(FileError) in
            try open(body, spool, rights.sources(of: owner))
        }
    }

    private static func open(
        _ body: RequestBody, _ spool: SpoolDirectory, _ admission: SourceAdmission
    ) throws(FileError) -> OpenedContent {
        switch body {
        case .inline(let data):
            return OpenedContent(content: .bytes(data.bytes), length: Int64(data.bytes.count), files: [])
        case .file(let source):
            let file = try open(source, spool, admission)
            return OpenedContent(content: .file(file.whole), length: source.length, files: [file])
        case .parts(let parts):
            var files: [SendableFile] = []
            var sent: [AttemptPart] = []
            for part in parts {
                let content: AttemptPart.Content
                switch part.content {
                case .inline(let data): content = .bytes(data.bytes)
                case .file(let source):
                    let file = try open(source, spool, admission)
                    files.append(file)
                    content = .file(file.whole)
                }
                sent.append(part.replacing(content))
            }
            return OpenedContent(content: .parts(sent), length: nil, files: files)
        }
    }

    /// Opens one source, as its task's owner may: its copy if it was spooled.
    static func open(
        _ source: SourceFile, _ spool: SpoolDirectory, _ admission: SourceAdmission
    ) throws(FileError) -> SendableFile {
        guard let name = source.spoolName else { return try SendableFile(source, by: admission) }
        return try SendableFile(source, spooledAs: name, in: spool)
    }
}

extension SendableFile {
    var whole: AttemptFile { AttemptFile(descriptor: descriptor, source: source) }
}
