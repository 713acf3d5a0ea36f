import Glibc
import XferModel

/// tus 1.0 with creation, expiration, termination and concatenation.
extension UploadExchange {
    private static let version = HeaderField(name: "Tus-Resumable", value: "1.0.0")

    func serveTus(_ parts: UploadParts) async throws -> Bool {
        if request.method == "OPTIONS" {
            try await skip(parts)
            let extensions = "creation,expiration,termination" + (state.behaviour.joinsParts ? ",concatenation" : "")
            try await answer(
                204,
                [
                    Self.version, HeaderField(name: "Tus-Version", value: "1.0.0"),
                    HeaderField(name: "Tus-Extension", value: extensions),
                ])
            return true
        }
        guard request.header("Tus-Resumable") == Self.version.value else {
            try await answer(412, [HeaderField(name: "Tus-Version", value: "1.0.0")])
            return false
        }
        if request.method == "POST", request.target == "/files" { return try await createTus(parts) }
        guard let upload = state.upload(request.target) else {
            try await answer(404, [Self.version])
            return false
        }
        switch request.method {
        case "HEAD":
            let length = HeaderField(name: "Upload-Length", value: String(upload.length ?? 0))
            let fields = offsetField(upload.offset) + [length, HeaderField(name: "Cache-Control", value: "no-store")]
            try await skip(parts)
            try await answer(200, [Self.version] + fields + expiry)
            return true
        case "PATCH":
            return try await appendTus(parts, to: upload)
        case "DELETE":
            try await skip(parts)
            state.forget(upload.target)
            try await answer(204, [Self.version])
            return true
        default:
            try await answer(405)
            return false
        }
    }

    private func createTus(_ parts: UploadParts) async throws -> Bool {
        if announced > 0 {
            // It does not know creation-with-upload.
            try await skip(parts)
            try await answer(400, [Self.version])
            return true
        }
        if let list = request.header("Upload-Concat"), list.hasPrefix("final;") {
            try await skip(parts)
            return try await joinTus(list.dropFirst(6).split(separator: " ").map(String.init))
        }
        guard let length = request.header("Upload-Length").flatMap({ Int64($0) }), length >= 0 else {
            try await answer(400, [Self.version])
            return false
        }
        try await skip(parts)
        let isPart = request.header("Upload-Concat") == "partial"
        let upload = try state.makeUpload(length: length, headers: request.headers, isPart: isPart)
        if length == 0 { state.complete(upload.target) }
        if case .loseAnswer = fault { return false }
        var fields = [Self.version] + expiry
        if case .omitLocation = fault {} else { fields.append(HeaderField(name: "Location", value: upload.target)) }
        try await answer(201, fields)
        return true
    }

    /// Joins the parts of an upload.
    ///
    /// - Parameter urls: the URLs of the parts, absolute or relative.
    private func joinTus(_ urls: [String]) async throws -> Bool {
        let targets = urls.map { url in
            url.firstRange(of: "/uploads/").map { String(url[$0.lowerBound...]) } ?? url
        }
        guard state.behaviour.joinsParts, request.header("Upload-Length") == nil,
            let whole = try state.join(targets, headers: request.headers)
        else {
            try await answer(400, [Self.version])
            return false
        }
        try await answer(201, [Self.version, HeaderField(name: "Location", value: whole.target)])
        return true
    }

    private func appendTus(_ parts: UploadParts, to upload: StoredUpload) async throws -> Bool {
        guard request.header("Content-Type") == "application/offset+octet-stream" else {
            try await answer(415, [Self.version])
            return false
        }
        guard request.header("Upload-Offset") == String(upload.offset),
            upload.offset + announced <= upload.length ?? 0
        else {
            try await answer(409, [Self.version])
            return false
        }
        if let most = state.behaviour.largestAppend, announced > most {
            try await answer(413, [Self.version])
            return false
        }
        let isWhole = try await receive(parts, into: upload.target)
        guard let stored = state.upload(upload.target) else { return false }
        if stored.offset == stored.length { state.complete(stored.target) }
        guard isWhole else { return false }
        try await answer(204, [Self.version] + offsetField(stored.offset) + expiry)
        return true
    }

    private var expiry: [HeaderField] {
        guard let lifetime = state.behaviour.lifetime else { return [] }
        return [HeaderField(name: "Upload-Expires", value: HTTPDate.text(time(nil) + Int(lifetime)))]
    }
}
