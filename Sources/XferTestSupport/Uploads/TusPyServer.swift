import Glibc

/// tuspyserver, a tus 1.0 server from PyPI, under uvicorn on a free port of 127.0.0.1.
///
/// Its interpreter is the one that `scripts/packages test` prepares next to the build. Its files are in a temporary
/// directory; it ends with the last reference.
public final class TusPyServer: Sendable {
    /// True if tuspyserver is installed on this machine.
    public static var isInstalled: Bool { python != nil }

    public let port: Int
    /// The directory of uploads: one file for each, with an `.info` file.
    public let files: String
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    public init() async throws {
        guard let python = Self.python else { throw TimedOut("tuspyserver is not installed: scripts/packages test") }
        let directory = try TemporaryDirectory("xfer-tus")
        files = try directory.makeDirectory("files")
        try FileTree.write(
            """
            from fastapi import FastAPI
            from tuspyserver import create_tus_router

            app = FastAPI()
            app.include_router(create_tus_router(prefix="files", files_dir="\(files)", strict_offset_validation=True))

            """, to: directory.file("served.py"))
        var attempt = 0
        while true {
            let port = try FreePort.any()
            if let started = try await Self.start(python, directory, port) {
                self.port = port
                process = started
                break
            }
            attempt += 1
            guard attempt < 5 else {
                throw TimedOut("tuspyserver does not start: \((try? FileTree.text(directory.file("output"))) ?? "")")
            }
        }
        self.directory = directory
    }

    /// The URL at which uploads are created.
    public var url: String { "http://127.0.0.1:\(port)/files" }

    /// The files uploaded so far, whole or not.
    public var uploads: [String] {
        get throws {
            try FileTree.entries(below: files).filter { !$0.contains(".") && !$0.contains("/") }.map {
                "\(files)/\($0)"
            }
        }
    }

    /// One line per request, as uvicorn logs them.
    public var log: String { (try? FileTree.text(directory.file("output"))) ?? "" }

    /// Ends the server; also done when the last reference is released.
    public func stop() async {
        process.signal(SIGKILL)
        await process.exit()
    }

    private static var python: String? { PythonEnvironment.interpreter(with: "uvicorn") }

    private static func start(_ python: String, _ directory: TemporaryDirectory, _ port: Int) async throws
        -> ChildProcess?
    {
        var options = ChildProcess.Options()
        options.directory = directory.path
        options.output = directory.file("output")
        options.errors = directory.file("output")
        let process = try ChildProcess(
            python,
            ["-m", "uvicorn", "--host", "127.0.0.1", "--port", String(port), "--lifespan", "off", "served:app"],
            options: options)
        try await eventually("tuspyserver starts", within: Patience.long) {
            !process.isRunning || ((try? FileTree.text(directory.file("output")).contains("running on")) ?? false)
        }
        return process.isRunning ? process : nil
    }
}
