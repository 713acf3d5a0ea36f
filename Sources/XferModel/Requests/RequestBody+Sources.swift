extension RequestBody {
    /// The body with each of its files replaced.
    public func mappingSources<Failure: Error>(
        _ transform: (SourceFile) throws(Failure) -> SourceFile
    ) throws(Failure) -> RequestBody {
        switch self {
        case .inline:
            return self
        case .file(let file):
            return .file(try transform(file))
        case .parts(let parts):
            var mapped: [BodyPart] = []
            for var part in parts {
                if case .file(let file) = part.content { part.content = .file(try transform(file)) }
                mapped.append(part)
            }
            return .parts(mapped)
        }
    }

    /// The body in the client's form, without the names of the service's copies of its files.
    public var withoutSpoolNames: RequestBody {
        mappingSources { file in
            var file = file
            file.spoolName = nil
            return file
        }
    }
}
