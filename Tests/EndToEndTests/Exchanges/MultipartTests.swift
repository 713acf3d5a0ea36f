import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Forms through the real daemon: as large as a file system takes them, and as another project's parser reads them.
@Suite struct MultipartTests {
    /// A file of holes with a stamp in each mebibyte: as large as it is said to be, and no two of its mebibytes alike.
    private struct StampedFile {
        static let step: Int64 = 1 << 20
        let path: String
        let length: Int64

        init(_ path: String, length: Int64) throws {
            self.path = path
            self.length = length
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw PosixError("open \(path)") }
            defer { close(descriptor) }
            guard ftruncate(descriptor, off_t(length)) == 0 else { throw PosixError("ftruncate \(path)") }
            for offset in stride(from: 0, to: length, by: Int(Self.step)) {
                let stamp = Self.stamp(at: offset)
                guard pwrite(descriptor, stamp, stamp.count, off_t(offset)) == stamp.count else {
                    throw PosixError("pwrite \(path)")
                }
            }
        }

        /// The digest over `before`, the file's bytes and `after`, made without reading the file.
        func digest(before: String, after: String) -> Checksum {
            var digest = Digest(.sha256)
            digest.update(Array(before.utf8))
            var block = [UInt8](repeating: 0, count: Int(Self.step))
            for offset in stride(from: 0, to: length, by: Int(Self.step)) {
                let stamp = Self.stamp(at: offset)
                block.replaceSubrange(0..<stamp.count, with: stamp)
                digest.update(block)
            }
            digest.update(Array(after.utf8))
            return digest.finish()
        }

        private static func stamp(at offset: Int64) -> [UInt8] {
            withUnsafeBytes(of: SplitMix64.mix(UInt64(offset) &+ 1)) { Array($0) }
        }
    }

    @Test func aFormOfAGibibyteIsSentWithoutGrowingTheDaemon() async throws {
        let server = try HashingServer()
        let scratch = try TemporaryDirectory("xfer-form")
        let file = try StampedFile(scratch.file("image.raw"), length: 1 << 30)
        try await withDaemon { daemon in
            func send(_ file: StampedFile) async throws -> TaskView {
                let parts: JSONValue = [
                    ["name": "note", "data": "Grüße"],
                    ["name": "image", "file": .string(file.path), "content_type": "application/x-raw"],
                ]
                return try await daemon.complete(
                    try await daemon.add(server.url("/form"), ["kind": "upload", "method": "POST", "parts": parts]))
            }
            // A first transfer takes the memory that does not depend on the form.
            _ = try await send(try StampedFile(scratch.file("small.raw"), length: 4 << 20))
            let before = try daemon.peakResidentKibibytes
            let view = try await send(file)
            let request = try #require(server.received.last)
            let type = try #require(request.header("Content-Type"))
            let mark = "multipart/form-data; boundary="
            #expect(type.hasPrefix(mark) && server.received.count == 2)
            // RFC 7578 and 2046, spelt out.
            let boundary = "--" + type.dropFirst(mark.count)
            let opening =
                "\(boundary)\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nGrüße\r\n\(boundary)\r\n"
                + "Content-Disposition: form-data; name=\"image\"; filename=\"image.raw\"\r\n"
                + "Content-Type: application/x-raw\r\n\r\n"
            let closing = "\r\n\(boundary)--\r\n"
            let length = Int64(opening.utf8.count) + file.length + Int64(closing.utf8.count)
            #expect(request.header("Content-Length") == String(length))
            #expect(request.count == length)
            #expect(request.digest == file.digest(before: opening, after: closing))
            #expect(view.json["progress"]?["sent"]?.integerValue == length)
            let growth = try daemon.peakResidentKibibytes - before
            #expect(growth < 8 << 10, "\(before) KiB, then \(growth) KiB more")
        }
    }

    /// Prints each part as JSON-like fields, as werkzeug's parser, which Flask uses, understands it.
    private static let reader = #"""
        import hashlib, sys
        from werkzeug.formparser import parse_form_data
        content_type, path = sys.argv[1:]
        body = open(path, "rb")
        environ = {"REQUEST_METHOD": "POST", "CONTENT_TYPE": content_type, "wsgi.input": body,
            "CONTENT_LENGTH": str(len(open(path, "rb").read()))}
        _, form, files = parse_form_data(environ, silent=False)
        for name, value in form.items(multi=True):
            print("field", name, value, sep="|")
        for name, file in files.items(multi=True):
            data = file.read()
            print("file", name, file.filename, file.content_type, file.headers.get("X-Note"), len(data),
                hashlib.sha256(data).hexdigest(), sep="|")
        """#

    @Test(.enabled(if: PythonEnvironment.interpreter(with: "flask") != nil, "needs werkzeug: scripts/packages test"))
    func werkzeugParsesEveryPartOfAFormAsIntended() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let first = try UploadSource(seed: 201, length: 300_001)
        let second = try UploadSource(seed: 202, length: 0)
        try await withDaemon { daemon in
            let parts: JSONValue = [
                ["name": "plain", "data": "a=b&c\r\n--x"], ["name": "na\"me", "data": "quoted"],
                ["name": "Größe ✓", "data": "weiß"], ["name": "back\\slash", "data": "\\"],
                ["name": "plain", "data": "again"],
                ["name": "binary", "base64": "AAEC/w==", "filename": "b \"q\".bin"],
                [
                    "name": "one", "file": .string(first.path), "filename": "Übersicht 1.pdf",
                    "content_type": "application/pdf", "headers": ["X-Note": "mine"],
                ], ["name": "two", "file": .string(second.path), "filename": "ends in \\"],
                ["name": "slashed", "data": "x", "filename": "C:\\temp.txt", "content_type": "text/plain"],
            ]
            let id = try await daemon.add(
                server.url("/form"), ["kind": "data", "method": "POST", "params": ["z": 1], "parts": parts])
            try await daemon.complete(id)
            let request = try #require(server.requests.first)
            #expect(request.header("Content-Length") == String(request.body.count))
            try FileTree.write(request.body, to: daemon.directory.file("body"))
            let python = try #require(PythonEnvironment.interpreter(with: "flask"))
            let read = try await Command.run(
                python,
                ["-c", Self.reader, request.header("Content-Type") ?? "", daemon.directory.file("body")],
                environment: ["PYTHONIOENCODING": "utf-8"])
            #expect(read.isSuccess, "\(read)")
            let digests = (Digest.of(first.version.bytes).hexDigits, Digest.of([]).hexDigits)
            let bytes = (Digest.of([0, 1, 2, 255]).hexDigits, Digest.of(Array("x".utf8)).hexDigits)
            #expect(
                read.output.replacing("\r\n--x", with: "<line>--x").split(separator: "\n").map(String.init).sorted()
                    == [
                        "field|z|1", "field|plain|a=b&c<line>--x", "field|na\"me|quoted", "field|Größe ✓|weiß",
                        "field|back\\slash|\\", "field|plain|again",
                        "file|binary|b \"q\".bin|application/octet-stream|None|4|\(bytes.0)",
                        "file|one|Übersicht 1.pdf|application/pdf|mine|300001|\(digests.0)",
                        "file|two|ends in \\|application/octet-stream|None|0|\(digests.1)",
                        "file|slashed|C:\\temp.txt|text/plain|None|1|\(bytes.1)",
                    ].sorted())
        }
    }

    @Test func aLineBreakInAPartsHeaderIsRefused() async throws {
        try await withDaemon { daemon in
            let cases: [(part: JSONValue, path: String)] = [
                (["name": "a\r\nX-Evil: 1", "data": "x"], "name"), (["name": "a\nb", "data": "x"], "name"),
                (["name": "a", "data": "x", "filename": "f\r\n\r\nbody"], "filename"),
                (["name": "a", "data": "x", "filename": "f\u{0}"], "filename"),
                (["name": "a", "data": "x", "content_type": "text/plain\r\nX-Evil: 1"], "content_type"),
                (["name": "a", "data": "x", "headers": ["X-Note": "a\r\nX-Evil: 1"]], "headers.X-Note"),
                (["name": "a", "data": "x", "headers": ["X\r\nEvil": "a"]], "headers.X\r\nEvil"),
                (
                    ["name": "a", "data": "x", "headers": ["Content-Disposition": "form-data"]],
                    "headers.Content-Disposition"
                ),
            ]
            for (part, path) in cases {
                let params: JSONValue = [
                    "url": "http://127.0.0.1:1/", "kind": "data", "method": "POST",
                    "parts": [["name": "b", "data": ""], part],
                ]
                let refusal = try await daemon.refusal("task.add", params)
                #expect(
                    refusal?.code == -32602 && refusal?.path == "parts[1].\(path)", "\(String(describing: refusal))")
            }
            #expect(try await daemon.call("task.list", ["filter": ["all": true]])["tasks"]?.arrayValue?.isEmpty == true)
        }
    }
}
