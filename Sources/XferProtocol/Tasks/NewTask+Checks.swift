import StrictJSON
import XferModel

/// Checks of several fields of a new task. Each fault is reported with the field that should not be there.
extension NewTask {
    public func validate() throws(WireError) {
        try checkURLs()
        try checkContent()
        switch kind ?? .download {
        case .download: try checkDownload()
        case .data: try checkResponse()
        case .upload:
            try checkResponse()
            try checkUpload()
        }
        if stripNulls == true, parse?.isEmpty != false {
            throw WireError(.conflictingFields, at: "strip_nulls", expected: "parse together with strip_nulls")
        }
    }

    /// Checks that there is one URL, or several, which only a GET may have.
    private func checkURLs() throws(WireError) {
        guard let urls else {
            guard url != nil else { throw WireError(.missing, at: "url", expected: "url, or urls with mirrors") }
            return
        }
        if url != nil { throw Self.conflict("urls", "either url or urls") }
        if kind == .upload { throw Self.conflict("urls", "url with kind upload") }
        if method ?? .get != .get { throw Self.conflict("urls", "url with a method other than GET") }
        if body != nil || parts != nil { throw Self.conflict("urls", "url with a request that sends content") }
        for (index, text) in urls.enumerated() {
            do throws(WireError) {
                try WireLimit.length(1...TaskLimits.urlLength).check(.string(text))
            } catch {
                throw error.under(index).under("urls")
            }
        }
    }

    /// Checks that there is at most one content, and a method that sends it.
    private func checkContent() throws(WireError) {
        if body != nil, parts != nil { throw Self.conflict("parts", "no body with parts") }
        if source != nil, body != nil || parts != nil {
            throw Self.conflict("source", "no body or parts with source")
        }
        if source != nil, kind != .upload { throw Self.conflict("source", "kind upload with source") }
        if upload != nil, kind != .upload { throw Self.conflict("upload", "kind upload with upload") }
        if chunkSize != nil, upload != .tus { throw Self.conflict("chunk_size", "upload tus with chunk_size") }
        if creationWithUpload == true, upload != .tus {
            throw Self.conflict("creation_with_upload", "upload tus with creation_with_upload")
        }
        if uploadParts != nil, upload != .tus { throw Self.conflict("upload_parts", "upload tus with upload_parts") }
        let hasFile = source != nil || body?.file != nil || parts?.contains { $0.file != nil } == true
        if spool == true, !hasFile { throw Self.conflict("spool", "a file that is sent") }
        if let method, !method.allowsContent, body != nil || parts != nil {
            throw Self.conflict(body != nil ? "body" : "parts", "no content with \(method.rawValue)")
        }
    }

    private func checkDownload() throws(WireError) {
        if parse != nil { throw Self.conflict("parse", "kind data or upload with parse") }
        if stripNulls != nil { throw Self.conflict("strip_nulls", "kind data or upload with strip_nulls") }
        if let method, !HTTPMethod.common.contains(method) {
            throw Self.conflict("method", "kind data or upload with \(method.rawValue)")
        }
        if method == .head { throw Self.conflict("method", "a method whose response has content, or kind data") }
        guard case .set = limits.range else { return }
        if let method, method != .get { throw Self.conflict("range", "method GET with range") }
        if body != nil || parts != nil { throw Self.conflict("range", "no body or parts with range") }
        if case .set(let policy) = choices.cachePolicy, policy != .reload {
            throw Self.conflict("range", "cache_policy reload with range: parts are not cached")
        }
        if case .set(true) = choices.storesResponses {
            throw Self.conflict("range", "no store with range: parts are not cached")
        }
    }

    /// Checks a response that the service keeps: nothing is published.
    private func checkResponse() throws(WireError) {
        let field = Self.wireFields.first(in: self) { Self.fieldsOfDownloads.contains($0) }
        if let field {
            throw Self.conflict(field.name, "kind download; for other kinds, task.result returns the response")
        }
    }

    static let fieldsOfDownloads = Set(
        ["output", "dir", "checksum", "resume"] + TaskFields.destination.namesOfDownloads()
            + TaskFields.completion.namesOfDownloads() + TaskFields.extent.namesOfDownloads())

    private func checkUpload() throws(WireError) {
        guard source != nil || body != nil || parts != nil else {
            throw WireError(.missing, at: "source", expected: "source, body or parts")
        }
        if let method, !method.allowsContent || method == .delete {
            throw Self.conflict("method", "POST, PUT, PATCH or another method that sends content with kind upload")
        }
        guard let upload, upload != .plain else { return }
        if parts != nil { throw Self.conflict("parts", "source or body with upload \(upload.rawValue)") }
        if let method, !method.anticipatesContent {
            throw Self.conflict("method", "POST, PUT or PATCH with upload \(upload.rawValue)")
        }
        if upload == .tus, let method, method != .post { throw Self.conflict("method", "POST with upload tus") }
    }

    private static func conflict(_ field: String, _ expected: String) -> WireError {
        WireError(.conflictingFields, at: field, expected: expected)
    }
}
