import ArgumentParser
import Glibc

/// The program `xferctl`: reads its arguments, runs one verb, exits with the documented status.
public enum CommandLineTool {
    /// Never returns. `arguments` are those after the program's name.
    public static func main(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> Never {
        var status = run(arguments, output: .standard, error: .error)
        if let failure = Output.failure {
            Output.error.line("xferctl: \(failure.message)")
            // What the command itself found wrong says more.
            if status == .done { status = failure.status }
        }
        exit(status.rawValue)
    }

    /// Runs one command line.
    static func run(_ arguments: [String], output: Output, error: Output) -> ExitStatus {
        do {
            var command = try RootCommand.parseAsRoot(arguments)
            try command.run()
            return .done
        } catch let failure as CommandFailure {
            if !failure.message.isEmpty { error.line("xferctl: \(failure.message)") }
            return failure.status
        } catch let request {
            return answer(request, output: output, error: error)
        }
    }

    /// Help, version and completion scripts are asked for; everything else the parser throws is a usage error, whose
    /// status is 2 here and not sysexits' 64.
    private static func answer(_ request: any Error, output: Output, error: Output) -> ExitStatus {
        let text = RootCommand.fullMessage(for: request)
        guard RootCommand.exitCode(for: request) != .success else {
            output.line(text)
            return .done
        }
        let prefix = "Error: "
        error.line("xferctl: " + (text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text))
        return .usage
    }
}
