import Testing
import XferModel

@testable import XferStore

/// What is kept beside tasks: bodies, answers, copies of files, uploads' places, profiles and cookies.
@Suite struct KeptThingsTests {
    private let source = SourceFile(
        path: "/srv/a", identity: FileIdentity(device: 1, inode: .max), length: 9, modifiedAt: 1_700_000_000_123_456_789
    )

    @Test func aBodyIsReadBackUnchanged() async throws {
        let bodies: [RequestBody] = [
            .inline(InlineBytes([0, 255, 10])), .file(source),
            .parts([
                BodyPart(name: "f", content: .file(source), filename: "ä\".txt", contentType: "text/plain"),
                BodyPart(
                    name: "n", content: .inline(InlineBytes([])), headers: [HeaderField(name: "X-A", value: "b")]),
            ]),
        ]
        try await withStore { store in
            for body in bodies {
                let id = try await store.write { tx in
                    try tx.tasks.insert(specification(), body: body, state: .queued, at: noon).id
                }
                #expect(try await store.read { try $0.bodies.find(of: id) } == body)
                try await store.write { try $0.tasks.delete(id) }
                #expect(try await store.read { try $0.bodies.find(of: id) } == nil)
            }
        }
    }

    @Test func aRepeatedAddIsTheSameWhateverCopyIsSent() async throws {
        var copy = source
        copy.spoolName = "0123"
        let (first, second, other) = (
            RequestBody.file(copy), RequestBody.file(source), RequestBody.inline(InlineBytes([1]))
        )
        try await withStore { store in
            let asked = specification(clientKey: "k")
            try await store.write { tx in _ = try tx.tasks.insert(asked, body: first, state: .queued, at: noon) }
            #expect(try await store.read { try $0.tasks.earlierAdd(of: asked, body: second)?.isSameRequest } == true)
            #expect(try await store.read { try $0.tasks.earlierAdd(of: asked, body: other)?.isSameRequest } == false)
            #expect(try await store.read { try $0.tasks.earlierAdd(of: asked)?.isSameRequest } == false)
        }
    }

    /// What became of an add depends on profiles and settings, which may change before it is repeated.
    @Test func aRepeatedAddIsRecognisedByItsRequestedFields() async throws {
        var (first, later) = (specification(clientKey: "k"), specification(clientKey: "k"))
        later.request.headers = [HeaderField(name: "X-Env", value: "another profile")]
        first.request.usesProfileCredential = true
        try await withStore { [first, later] store in
            try await store.write { tx in _ = try tx.tasks.insert(first, requestText: "{a}", state: .queued, at: noon) }
            func isSame(_ specification: TaskSpecification, _ requestText: String?) async throws -> Bool? {
                try await store.read {
                    try $0.tasks.earlierAdd(of: specification, requestText: requestText)?.isSameRequest
                }
            }
            #expect(try await isSame(later, "{a}") == true)
            #expect(try await isSame(first, "{b}") == false)
        }
        // Rows of earlier programs only know what became of it.
        try await withStore { [first, later] store in
            try await store.write { tx in _ = try tx.tasks.insert(first, state: .queued, at: noon) }
            func isSame(_ specification: TaskSpecification) async throws -> Bool? {
                try await store.read { try $0.tasks.earlierAdd(of: specification, requestText: "{a}")?.isSameRequest }
            }
            #expect(try await isSame(first) == true)
            #expect(try await isSame(later) == false)
        }
    }

    @Test func theUsedPartsOfAProfileAreStored() async throws {
        try await withStore { store in
            for (credential, certificate) in [(false, false), (true, false), (false, true), (true, true)] {
                var asked = specification()
                asked.request.usesProfileCredential = credential
                asked.request.usesProfileCertificate = certificate
                let kept = try await store.write { [asked] tx in
                    let id = try tx.tasks.insert(asked, state: .queued, at: noon).id
                    return try tx.tasks.find(id)?.specification.request
                }
                #expect(kept == asked.request)
            }
        }
        // As it was written before the two were told apart.
        let task = try #require(TaskOptions.apply(#"{"usesProfileCredentials":true}"#, to: specification()))
        #expect(task.request.usesProfileCredential && task.request.usesProfileCertificate)
    }

    @Test func anAnswerIsKeptReplacedAndForgottenWithItsTask() async throws {
        try await withStore { store in
            let id = try await store.write { try $0.add(1)[0] }
            let inline = StoredResult(content: .inline([1, 2, 0]), length: 3, object: "{\"a\":1}")
            try await store.write { try $0.results.set(inline, of: id, at: noon) }
            #expect(try await store.read { try $0.results.find(of: id) } == inline)
            let empty = StoredResult(content: .inline([]), length: 0)
            try await store.write { try $0.results.set(empty, of: id, at: noon) }
            #expect(try await store.read { try $0.results.find(of: id) } == empty)
            let file = StoredResult(content: .file("feed"), length: 1 << 40)
            try await store.write { try $0.results.set(file, of: id, at: noon) }
            #expect(try await store.read { try $0.results.find(of: id) } == file)
            #expect(try await store.read { try $0.spool.isWanted(spoolFile: "feed") })
            #expect(try await store.read { try $0.spool.files(of: id) } == ["feed"])
            try await store.write { try $0.tasks.delete(id) }
            #expect(try await store.read { try $0.results.find(of: id) } == nil)
            #expect(try await !store.read { try $0.spool.isWanted(spoolFile: "feed") })
        }
    }

    @Test func answersExpireOldestFirst() async throws {
        try await withStore { store in
            let ids = try await store.write { try $0.add(3) }
            try await store.write { tx in
                for (index, id) in ids.enumerated() {
                    let content = StoredResult.Content.file("file\(index)")
                    try tx.results.set(
                        StoredResult(content: content, length: 1), of: id,
                        at: noon.advanced(by: .seconds(-index)))
                }
            }
            let expired = try await store.read { try $0.results.expired(olderThan: noon, limit: 10) }
            #expect(expired.map(\.id) == [ids[2], ids[1]])
            #expect(expired.map(\.file) == ["file2", "file1"])
            try await store.write { try $0.results.remove(of: ids[2]) }
            #expect(try await store.read { try $0.results.expired(olderThan: noon, limit: 10) }.map(\.id) == [ids[1]])
        }
    }

    private func copies(_ names: [String], of length: Int64) -> RequestBody {
        .parts(
            names.map { name in
                var copy = source
                (copy.spoolName, copy.length) = (name, length)
                return BodyPart(name: name, content: .file(copy))
            } + [BodyPart(name: "original", content: .file(source))])
    }

    @Test func copiesOfFilesCountForTheOwnerWhileTheTaskHasThem() async throws {
        try await withStore { store in
            let ids = try await store.write { try $0.add(3) }
            func stored() async throws -> Int64 {
                try await store.read { try $0.storedBytes.total(of: specification().owner) }
            }
            // What is smaller than a block is not counted.
            try await store.write { tx in
                try tx.spool.insertSources(of: copies(["a"], of: 4095), of: ids[0])
                #expect(try tx.storedBytes.total(of: specification().owner) == 0)
                try tx.spool.insertSources(of: copies(["b"], of: 4096), of: ids[1])
                try tx.spool.insertSources(of: copies(["c", "d"], of: 5000), of: ids[2])
            }
            #expect(try await stored() == 14_096)
            try await store.write { try $0.spool.removeSources(of: ids[1]) }
            #expect(try await stored() == 10_000)
            try await store.write { try $0.tasks.delete(ids[2]) }
            #expect(try await stored() == 0)
        }
    }

    @Test func copiesOfFilesBelongToTheirTask() async throws {
        try await withStore { store in
            let id = try await store.write { try $0.add(1)[0] }
            try await store.write { try $0.spool.insertSources(of: copies(["one", "two"], of: 9), of: id) }
            #expect(try await store.read { try $0.spool.isWanted(spoolFile: "two") })
            #expect(try await store.read { try $0.spool.sources(of: id).sorted() } == ["one", "two"])
            #expect(try await store.read { try $0.spool.expiredSources(olderThan: noon, limit: 9) }.isEmpty)
            try await store.write { try $0.setState(.failed, of: id, finishedAt: noon.advanced(by: .seconds(-1))) }
            #expect(try await store.read { try $0.spool.expiredSources(olderThan: noon, limit: 9) }.count == 2)
            try await store.write { try $0.spool.removeSources(of: id) }
            #expect(try await !store.read { try $0.spool.isWanted(spoolFile: "two") })
        }
    }

    @Test func anUploadURLIsForgottenWithItsTransfer() async throws {
        try await withStore { store in
            let transfer = try await store.write { tx in
                try tx.transfers.insert(
                    partial: PartialLocation(directory: "/", identity: .unknown), at: noon)
            }
            let place = UploadResumeData(
                url: HTTPURL(scheme: .https, host: "up.example", port: 8443, target: "/u/1?x=y"), offset: 1 << 33,
                expiresAt: noon, largestAppend: 5)
            try await store.write { try $0.transfers.setUpload(place, of: transfer.id) }
            #expect(try await store.read { try $0.transfers.upload(of: transfer.id) } == place)
            try await store.write { try $0.transfers.setUpload(nil, of: transfer.id) }
            #expect(try await store.read { try $0.transfers.upload(of: transfer.id) } == nil)
            try await store.write { try $0.transfers.setUpload(place, of: transfer.id) }
            try await store.write { try $0.transfers.delete(transfer.id) }
            #expect(try await store.read { try $0.transfers.upload(of: transfer.id) } == nil)
        }
    }

    @Test func everyRequestFieldOfATaskIsReadBack() async throws {
        var asked = specification()
        asked.kind = .upload
        asked.request.method = .patch
        asked.request.headerRules = [HeaderRule(hosts: [], set: [HeaderField(name: "A", value: "b")], remove: ["C"])]
        asked.request.acceptedTypes = ["application/json"]
        asked.request.usesCookies = true
        asked.maxSendRate = 7
        asked.retriesNonIdempotent = true
        asked.upload = UploadOptions(uploadProtocol: .tus, isSpooled: true)
        asked.response = ResponseHandling(parsers: [.json], stripsNulls: true)
        asked.profile = "work"
        let specification = asked
        try await withStore { store in
            let id = try await store.write { tx in
                var task = try tx.tasks.insert(specification, state: .queued, at: noon)
                task.sent = 1 << 35
                try tx.tasks.update(task)
                return task.id
            }
            let task = try await store.read { try $0.tasks.find(id) }
            #expect(task?.specification == specification)
            #expect(task?.sent == 1 << 35)
        }
    }

    @Test func profilesAndTheirCookiesAreReadBackAndRemoved() async throws {
        var profile = Profile(name: "work")
        profile.baseURL = HTTPURL(scheme: .https, host: "api.example", port: 443, target: "/v1/")
        let stored = profile
        let cookie = StoredCookie(domain: ".api.example", path: "/", name: "sid", line: "a\tb")
        try await withStore { store in
            try await store.write { tx in
                try tx.profiles.set(stored, isConfigured: false)
                try tx.profiles.set(Profile(name: "other"), isConfigured: true)
                try tx.cookies.set(cookie, ofProfile: "work")
                try tx.cookies.set(cookie, ofProfile: "other")
            }
            let found = try await store.read { try $0.profiles.all() }
            #expect(found.map(\.profile.name).sorted() == ["other", "work"])
            #expect(found.first { $0.profile.name == "work" }?.profile == stored)
            #expect(found.filter(\.isConfigured).map(\.profile.name) == ["other"])
            #expect(try await store.read { try $0.cookies.list(ofProfile: "work") } == [cookie])
            try await store.write { tx in
                try tx.cookies.remove(domain: ".api.example", path: "/", name: "sid", ofProfile: "work")
            }
            #expect(try await store.read { try $0.cookies.list(ofProfile: "work") }.isEmpty)
            #expect(try await store.read { try $0.cookies.list(ofProfile: "other") } == [cookie])
            try await store.write { try $0.profiles.remove(named: "other") }
            #expect(try await store.read { try $0.profiles.all() }.map(\.profile.name) == ["work"])
        }
    }
}
