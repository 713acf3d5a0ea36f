import XferModel
import XferTestSupport

/// The hosts and files that documents name, on this machine.
///
/// `tls.example.org` speaks TLS, `tus.example.org` and `resumable.example.org` their protocols, `missing.example` has
/// nothing, and every other host has the same files.
final class DocumentDoubles {
    private let files: FaultServer
    private let nothing: FaultServer
    private let tus: UploadServer
    private let resumable: UploadServer
    private let secure: TLSServer
    private let authority: TestCA
    private let pin: String

    /// The pin that documents show for `tls.example.org`.
    private static let shownPin = "sha256/cFtSrtqAZuMkDsdcrAcK2Gzx78j48WjKeDczrh+Vd8U="

    init() async throws {
        files = try await FaultServer()
        nothing = try await FaultServer()
        tus = try await UploadServer(.tus)
        resumable = try await UploadServer(.resumable)
        authority = try TestCA()
        var leaf = TestCA.Leaf()
        leaf.commonName = "tls.example.org"
        let certificate = try authority.issue(leaf)
        pin = certificate.keyPin
        secure = try TLSServer(
            TLSServer.Options(chain: authority.chain(for: certificate), privateKey: certificate.privateKey))
        for (path, version) in Self.versions { files.serve(path, version) }
        files.onAnyOther { request in
            guard ["POST", "PUT", "DELETE"].contains(request.method) || request.path == "/v1/items" else {
                return Reply(404, text: "not found")
            }
            let type = HeaderField(name: "Content-Type", value: "application/json")
            return Reply(200, headers: [type], text: "{\"accepted\":true}")
        }
    }

    private static let versions: [String: SourceVersion] = [
        "/big.iso": .tagged(1, length: 8 << 20), "/debian.iso": .tagged(2, length: 8 << 20),
        "/report.pdf": .tagged(3, length: 3_000_000), "/talk.webm": .tagged(4, length: 3_000_000),
        "/ada.png": .tagged(5, length: 1_000_000), "/bob.png": .tagged(6, length: 1_000_000),
        "/image-1.png": .tagged(7, length: 200_000), "/image-2.png": .tagged(8, length: 200_000),
        "/image-3.png": .tagged(9, length: 200_000), "/photo.jpeg": .tagged(10, length: 5000),
        "/list.json": .tagged(
            11, length: 2000, headers: [HeaderField(name: "Cache-Control", value: "max-age=600")]),
    ]

    /// The command with the addresses of these servers.
    func localised(_ command: String) -> String {
        command.replacing("https://tls.example.org", with: "https://localhost:\(secure.port)")
            .replacing("tls.example.org", with: "localhost:\(secure.port)")
            .replacing("https://tus.example.org", with: tus.url(""))
            .replacing("https://resumable.example.org", with: resumable.url(""))
            .replacing("https://missing.example", with: nothing.url(""))
            .replacing(/https:\/\/([a-z]+\.)?example(\.org)?/, with: files.url(""))
            .replacing(Self.shownPin, with: pin)
    }

    /// The files of a person's home, and a configuration under which it is the only root.
    func furnish(_ daemon: DaemonFixture) throws {
        let home = daemon.directory
        for directory in ["usr", "usr/bin", "usr/local", "usr/local/lib", "usr/local/lib/xfer", "Downloads"] {
            _ = try home.makeDirectory(directory)
        }
        let copy = "#!/bin/sh -e\ncp \"$2\" \"$2.new\"\nmv \"$2.new\" \"$2\"\n"
        try FileTree.write(copy, to: home.file("usr/local/lib/xfer/shrink"), mode: 0o755)
        try FileTree.write("#!/bin/sh\ncat\n", to: home.file("usr/local/lib/xfer/notify"), mode: 0o755)
        try FileTree.write("#!/bin/sh\n", to: home.file("usr/bin/clamdscan"), mode: 0o755)
        let images = ["image-1.png", "image-2.png"].map { files.url("/\($0)\n") }
        try FileTree.write("# images of the day\n" + images.joined(), to: home.file("urls.txt"))
        let list = images.joined() + files.url("/lost-1.png\n") + "mailto:somebody\n" + files.url("/image-3.png\n")
        try FileTree.write(list + files.url("/lost-2.png\n"), to: home.file("list.txt"))
        try FileTree.write("&town=London", to: home.file("more.txt"))
        try FileTree.write("a picture", to: home.file("sunset.jpeg"))
        try FileTree.write("a,b\n1,2\n", to: home.file("report.csv"))
        try SourceVersion.tagged(20, length: 300_000).write(to: home.file("backup.tar"))
        try FileTree.write(authority.pem, to: home.file("ca.pem"))
        try FileTree.write("geheim\n", to: home.file("deploy-secret"), mode: 0o600)
        let scan = "{ argv: [\"\(home.file("usr/bin/clamdscan"))\", --no-summary], timeout: 120, guests: true }"
        let shrink = "{ argv: [\"\(home.file("usr/local/lib/xfer/shrink"))\", \"1600\"], timeout: 300 }"
        let notify = "{ argv: [\"\(home.file("usr/local/lib/xfer/notify"))\"] }"
        try daemon.configure([
            "queue": ["max_active": "auto", "max_active_per_host": "auto"],
            "download": ["dir": "\"\(home.file("Downloads"))\"", "roots": "[\"\(home.path)\"]"],
            "trust": ["ca_file": "\"\(home.file("ca.pem"))\""],
            "hooks": ["scan": scan, "shrink": shrink, "notify": notify],
            "webhooks": [
                "deploy": "{ url: \"\(files.url("/xfer"))\", secret: { file: \"\(home.file("deploy-secret"))\" }, "
                    + "filter: { groups: [nightly] } }",
                "chat": "{ url: \"\(files.url("/xfer"))\", events: [], guests: true }",
            ],
        ])
    }
}
