import Glibc
import Testing
import XferTestSupport

/// A system call of the daemon's before which strace(1) kills the daemon, or which it lets fail.
struct KillPoint: Sendable, CustomTestStringConvertible {
    /// The file or directory on which calls count.
    enum Place: Sendable {
        case downloads, databaseLog
    }

    let call: String
    /// The call of one thread that is the last: 1 is its first one.
    var number = 1
    /// Nil counts calls on all files.
    var place: Place?
    /// The error with which this call and all later ones fail without an effect, such as `EIO`; nil kills.
    var error: String?
    /// True if only this call of each thread fails.
    var isSingle = false

    fileprivate var injection: String {
        let effect = error.map { "error=\($0)" } ?? "signal=KILL"
        return "\(call):\(effect):when=\(number)" + (error == nil || isSingle ? "" : "+")
    }

    var testDescription: String {
        "\(call) \(number)" + (place.map { " on \($0)" } ?? "") + (error.map { " fails with \($0)" } ?? "")
    }

    /// Whether strace may trace the daemon.
    static let isPossible = Machine.isRoot && Command.find("strace") != nil
}

extension DaemonFixture {
    /// Traces the running daemon, until it is killed at this point.
    ///
    /// - Parameter downloads: the directory that `KillPoint.Place.downloads` means.
    /// - Returns: strace, which ends with the daemon, once it has every thread of the daemon. SIGTERM ends it alone.
    func attach(_ point: KillPoint, downloads: String) async throws -> ChildProcess {
        let daemon = try #require(process)
        var arguments = ["-f", "-o", "/dev/null", "-p", "\(daemon.pid)", "-e", "trace=\(point.call)"]
        arguments += ["-e", "inject=\(point.injection)"]
        switch point.place {
        case .downloads: arguments += ["-P", downloads]
        case .databaseLog: arguments += ["-P", "\(stateDirectory)/xferd.sqlite-wal"]
        case nil: break
        }
        let messages = directory.file("strace")
        try FileTree.write("", to: messages)
        var options = ChildProcess.Options()
        options.errors = messages
        let strace = try ChildProcess(try #require(Command.find("strace")), arguments, options: options)
        try await eventually("strace has every thread") {
            let said = try FileTree.text(messages)
            guard strace.isRunning else { throw TimedOut("strace ended: \(said)") }
            return said.contains("attached")
        }
        return strace
    }

    /// What a crash has left of small downloads, by a copy of the database: opening it would recover its log.
    ///
    /// - Returns: the names that were about to be given, and how many tasks had a committed start.
    func leftByCrash() async throws -> (intended: [String], started: Int) {
        let copy = try TemporaryDirectory("xfer-cut")
        let program = """
            import pathlib, shutil, sqlite3, sys
            for file in pathlib.Path(sys.argv[1]).glob("xferd.sqlite*"): shutil.copy(file, sys.argv[2])
            with sqlite3.connect(sys.argv[2] + "/xferd.sqlite") as base:
                print(base.execute("SELECT count(*) FROM task WHERE state = 'running'").fetchone()[0])
                for name, in base.execute("SELECT name FROM brief_intent"): print(name)
            """
        let python = try #require(Command.find("python3"))
        let result = try await Command.run(python, ["-c", program, stateDirectory, copy.path])
        let lines = result.output.split(separator: "\n").map(String.init)
        return (Array(lines.dropFirst()), try #require(lines.first.flatMap { Int($0) }, "\(result)"))
    }
}
