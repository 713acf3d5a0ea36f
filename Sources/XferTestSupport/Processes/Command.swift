import Glibc

/// Programs on this machine and their output.
public enum Command {
    /// The output and exit of a finished program.
    public struct Result: Sendable, CustomStringConvertible {
        public let exit: ChildProcess.Exit
        public let output: String
        public let errors: String

        public var isSuccess: Bool { exit == .code(0) }
        public var description: String { "\(exit)\n\(output)\(errors)" }
    }

    /// Absolute path of a program in PATH or the usual places, nil when it is not installed.
    public static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let directories = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
        return directories.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// The directory of the programs under test: `XFER_PROGRAMS` if set (soak runs use optimised ones), else the
    /// directory of the running test bundle.
    public static var productsDirectory: String {
        get throws {
            if let chosen = getenv("XFER_PROGRAMS") { return String(cString: chosen) }
            guard let resolved = realpath("/proc/self/exe", nil) else { throw PosixError("realpath /proc/self/exe") }
            defer { free(resolved) }
            let path = String(cString: resolved)
            return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        }
    }

    /// Settings of the sanitizer this process runs under, for the environment of programs built like it.
    public static var sanitizerOptions: [String: String] {
        getenv("TSAN_OPTIONS").map { ["TSAN_OPTIONS": String(cString: $0)] } ?? [:]
    }

    /// Runs a program to its end and collects its output.
    ///
    /// The program is killed after `timeout`, or when the calling Swift task is cancelled: a test that fails during an
    /// `async let` of this ends at once.
    public static func run(
        _ executable: String, _ arguments: [String], input: String = "", environment: [String: String]? = nil,
        directory: String? = nil, timeout: Duration = Patience.long
    ) async throws -> Result {
        let scratch = try TemporaryDirectory("xfer-run")
        try FileTree.write(input, to: scratch.file("in"))
        var options = ChildProcess.Options()
        options.environment = environment
        options.directory = directory
        options.input = scratch.file("in")
        options.output = scratch.file("out")
        options.errors = scratch.file("err")
        let process = try ChildProcess(executable, arguments, options: options)
        let guardian = Task {
            try await Task.sleep(for: timeout)
            process.signal(SIGKILL)
        }
        defer { guardian.cancel() }
        let exit = await withTaskCancellationHandler {
            await process.exit()
        } onCancel: {
            process.signal(SIGKILL)
        }
        return Result(
            exit: exit, output: try FileTree.text(scratch.file("out")), errors: try FileTree.text(scratch.file("err")))
    }
}

/// The Python environment that `scripts/packages test` prepares next to the build, with the servers of
/// `scripts/requirements.txt`.
public enum PythonEnvironment {
    /// Its interpreter, if `program` is installed there: `uvicorn`, `moto_server`, `flask`.
    public static func interpreter(with program: String) -> String? {
        // `.build/python` lies some levels above the products.
        guard var directory = try? Command.productsDirectory else { return nil }
        while let slash = directory.lastIndex(of: "/") {
            directory = String(directory[..<slash])
            for home in ["\(directory)/python", "\(directory)/.build/python"] {
                if access("\(home)/bin/\(program)", X_OK) == 0 { return "\(home)/bin/python" }
            }
        }
        return nil
    }
}
