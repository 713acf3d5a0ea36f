import XferModel

/// The protocol of draft-ietf-httpbis-resumable-upload, interop version 8.
extension UploadExchange {
    private static let version = HeaderField(name: "Upload-Draft-Interop-Version", value: "8")
    private static let incomplete = HeaderField(name: "Upload-Complete", value: "?0")

    func serveResumable(_ parts: UploadParts) async throws -> Bool {
        if request.target == "/files" { return try await create(parts) }
        guard let upload = state.upload(request.target) else {
            try await answer(404)
            return false
        }
        switch request.method {
        case "HEAD":
            try await skip(parts)
            let complete = HeaderField(name: "Upload-Complete", value: upload.isComplete ? "?1" : "?0")
            let length = upload.length.map { [HeaderField(name: "Upload-Length", value: String($0))] } ?? []
            try await answer(204, offsetField(upload.offset) + [complete] + length + limits)
            return true
        case "PATCH":
            return try await append(parts, to: upload)
        case "DELETE":
            try await skip(parts)
            state.forget(upload.target)
            try await answer(204)
            return true
        default:
            try await answer(405)
            return false
        }
    }

    private var isLast: Bool { request.header("Upload-Complete") == "?1" }

    private var limits: [HeaderField] {
        var members: [String] = []
        if let most = state.behaviour.largestAppend, state.behaviour.announcesLimit {
            members.append("max-append-size=\(most)")
        }
        if let lifetime = state.behaviour.lifetime { members.append("max-age=\(lifetime)") }
        return [
            HeaderField(name: "Upload-Limit", value: members.isEmpty ? "min-size=0" : members.joined(separator: ", "))
        ]
    }

    private func create(_ parts: UploadParts) async throws -> Bool {
        let stated = request.header("Upload-Length").flatMap { Int64($0) }
        guard request.header("Upload-Complete") != nil, !isLast || stated == nil || stated == announced else {
            try await answer(400)
            return false
        }
        let upload = try state.makeUpload(length: stated ?? (isLast ? announced : nil), headers: request.headers)
        await enter(upload.target)
        let place = HeaderField(name: "Location", value: upload.target)
        try await announce(place)
        if let most = state.behaviour.largestAppend, announced > most {
            try await answer(413, [Self.incomplete] + limits)
            return false
        }
        guard try await receive(parts, into: upload.target, progress: tellProgress) else { return false }
        return try await finish(upload.target, place: [place])
    }

    /// Sends the 104 with the upload's URL.
    private func announce(_ place: HeaderField) async throws {
        switch fault {
        case .silence: return
        case .misversion(let version):
            try await interim(104, [HeaderField(name: Self.version.name, value: version), place] + limits)
        case .omitLocation: try await interim(104, [Self.version] + limits)
        case .claim(let offset):
            try await interim(104, [Self.version, place])
            try await interim(104, [Self.version, HeaderField(name: "Upload-Offset", value: offset)])
        default: try await interim(104, [Self.version, place] + limits)
        }
    }

    private func tellProgress(_ offset: Int64) async throws {
        if case .silence = fault { return }
        try await interim(104, [Self.version, HeaderField(name: "Upload-Offset", value: String(offset))])
    }

    private func append(_ parts: UploadParts, to upload: StoredUpload) async throws -> Bool {
        guard request.header("Content-Type") == "application/partial-upload" else {
            try await answer(415, [Self.incomplete])
            return false
        }
        guard request.header("Upload-Offset") == String(upload.offset),
            upload.length.map({ upload.offset + announced <= $0 }) != false
        else {
            try await answer(409, [Self.incomplete] + offsetField(upload.offset))
            return false
        }
        if let most = state.behaviour.largestAppend, announced > most {
            try await answer(413, [Self.incomplete] + limits)
            return false
        }
        if upload.isComplete, !state.behaviour.replaysAnswer {
            try await answer(409, [Self.incomplete] + offsetField(upload.offset))
            return false
        }
        guard try await receive(parts, into: upload.target, progress: tellProgress) else { return false }
        return try await finish(upload.target, place: [])
    }

    private func finish(_ target: String, place: [HeaderField]) async throws -> Bool {
        guard let stored = state.upload(target) else { return false }
        guard isLast else {
            try await answer(place.isEmpty ? 204 : 201, [Self.incomplete] + place + limits + offsetField(stored.offset))
            return true
        }
        state.complete(target)
        let complete = HeaderField(name: "Upload-Complete", value: "?1")
        let behaviour = state.behaviour
        try await answer(behaviour.finalStatus, [complete] + behaviour.finalHeaders, body: behaviour.finalBody)
        return true
    }
}
