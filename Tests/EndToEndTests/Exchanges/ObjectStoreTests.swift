import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// An S3 endpoint that is not ours, through a profile that signs (AWS Signature Version 4).
@Suite(.enabled(if: MotoServer.isInstalled, "needs moto: scripts/packages test")) struct ObjectStoreTests {
    private func withVault(_ body: (DaemonFixture, MotoServer) async throws -> Void) async throws {
        let moto = try await MotoServer(bucket: "vault")
        try await withDaemon(DaemonFixture.Options(settings: ["log": ["level": "trace"]])) { daemon in
            try await daemon.setProfile("vault", moto, .reference)
            try await body(daemon, moto)
            // By reference it is read for each attempt, and kept nowhere.
            let shown = [
                daemon.log, moto.log, try await daemon.call("task.list", ["filter": ["all": true]]).text,
                try await daemon.call("profile.list").text, try await daemon.events().map(\.text).joined(),
                try FileTree.text("/proc/\(try #require(daemon.process).pid)/cmdline"),
                try await daemon.ctl("profile", "show", "vault").description,
            ]
            for text in shown { #expect(!text.contains(moto.secretKey)) }
            for file in try FileTree.entries(below: daemon.stateDirectory) where !file.hasSuffix("/") {
                #expect(!(try FileTree.text("\(daemon.stateDirectory)/\(file)")).contains(moto.secretKey), "\(file)")
            }
        }
    }

    @Test func filesAreStoredAndFetchedUnderAnyObjectKey() async throws {
        let source = try UploadSource(seed: 220, length: 700_001)
        let digest = Digest.of(source.version.bytes).hexDigits
        // As the object's key is, and as it is written in a URL.
        let keys = [
            "plain.bin": "plain.bin", "with space": "with%20space",
            "größe/日本.bin": "gr%C3%B6%C3%9Fe/%E6%97%A5%E6%9C%AC.bin",
            "a+b": "a%2Bb", "q?x&y=1": "q%3Fx%26y%3D1", "tilde~(1)!*'": "tilde~%281%29%21%2A%27",
        ]
        try await withVault { daemon, moto in
            for (index, (key, path)) in keys.sorted(by: { $0.key < $1.key }).enumerated() {
                let put = try await daemon.add(
                    path, ["profile": "vault", "kind": "upload", "source": .string(source.path)])
                #expect(try await daemon.complete(put).json["http_status"] == 200, "\(key)")
                let get = try await daemon.add(path, ["profile": "vault", "output": .string("\(index)")])
                try expectFile(try await daemon.complete(get), is: source.version)
                #expect(try await moto.objects()[key] == digest, "\(key)")
            }
            #expect(try await moto.objects().count == keys.count)
            // A key as people write it is escaped as far as a URL has to be.
            let written = try await daemon.add("größe/日本.bin", ["profile": "vault", "output": "written"])
            try expectFile(try await daemon.complete(written), is: source.version)
        }
    }

    @Test func aSignatureWithAWrongSecretFailsForGood() async throws {
        let source = try UploadSource(seed: 221, length: 10_000)
        try await withVault { daemon, moto in
            try await daemon.setProfile("thief", moto, .value("wr0ng-s3cret-key"))
            let put = try await daemon.add(
                "stolen", ["profile": "thief", "kind": "upload", "source": .string(source.path)])
            let refused = try await daemon.fails(put, "http_status")
            #expect(refused.json["http_status"] == 403 && refused.json["attempts"] == 1, "\(refused.json.text)")
            #expect(try await daemon.result(put).contains("SignatureDoesNotMatch"))
            let get = try await daemon.fails(try await daemon.add("stolen", ["profile": "thief"]), "http_status")
            #expect(get.json["http_status"] == 403)
            #expect(try await moto.objects().isEmpty)
            #expect(!daemon.log.contains("wr0ng-s3cret-key"))

            // The right one, put in its place, is for tasks that exist, too.
            try await daemon.setProfile("thief", moto, .reference)
            _ = try await daemon.call("task.retry", ["ids": [.integer(put)]])
            try await daemon.complete(put)
            #expect(try await moto.objects().keys.sorted() == ["stolen"])
        }
    }

    @Test func aSignedDownloadResumesAfterAKill() async throws {
        let source = try UploadSource(seed: 222, length: 3 << 20)
        try await withVault { daemon, moto in
            let put = try await daemon.add(
                "big", ["profile": "vault", "kind": "upload", "source": .string(source.path)])
            try await daemon.complete(put)
            let get = try await daemon.add("big", ["profile": "vault", "output": "big", "max_recv_rate": 100_000])
            try await daemon.waitForBytes(100_000, of: get)
            // A pause commits, so that the kill finds something to go on from, however slow the machine is.
            _ = try await daemon.call("task.pause", ["ids": [.integer(get)]])
            try await daemon.wait(get, for: "paused")
            _ = try await daemon.call("task.resume", ["ids": [.integer(get)]])
            let kept = try await eventually("it continues") { () -> Int64? in
                let runs = try await daemon.events(of: get, types: "task.started")
                return runs.count > 1 ? runs.last?["offset"]?.integerValue : nil
            }
            try await daemon.waitForBytes(kept + 1, of: get)
            await daemon.kill9()
            try await daemon.start()
            _ = try await daemon.call("task.update", ["id": .integer(get), "changes": ["max_recv_rate": 0]])
            try expectFile(try await daemon.complete(get), is: source.version)
            let answers = moto.log.split(separator: "\n").filter { $0.contains("GET /vault/big HTTP/1.1") }
            #expect(kept > 0 && kept < source.version.length)
            #expect(answers.count >= 2 && answers.dropFirst().allSatisfy { $0.contains("\" 206 ") }, "\(answers)")
        }
    }
}

extension DaemonFixture {
    fileprivate enum Key {
        case reference
        case value(String)
    }

    /// A profile whose base URL is the server's bucket `vault`.
    fileprivate func setProfile(_ name: String, _ moto: MotoServer, _ key: Key) async throws {
        let secret: JSONValue =
            switch key {
            case .reference: ["file": .string(moto.secretFile)]
            case .value(let text): .string(text)
            }
        let profile: JSONValue = [
            "name": .string(name), "base_url": .string(moto.url + "/vault"),
            "credential": [
                "scheme": "sigv4", "user": .string(moto.accessKey), "secret": secret,
                "region": .string(MotoServer.region),
            ],
        ]
        _ = try await call("profile.set", ["profile": profile])
    }
}
