import ArgumentParser
import Glibc

/// The program `xferctl`: reads its arguments, runs one verb, exits with the documented status.
public enum CommandLineTool {
    /// Runs the command line and exits.
    ///
    /// - Parameter arguments: the arguments after the program's name.
    public static func main(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> Never {
        // A write to a closed pipe fails instead of ending the program without a word.
        signal(SIGPIPE, SIG_IGN)
        SuggestedCommand.follow(arguments)
        end(run(arguments, output: .standard, error: .error))
    }

    /// Exits, after it has reported lost output.
    static func end(_ status: ExitStatus) -> Never {
        var status = status
        if let failure = Output.failure {
            Output.error.line("xferctl: \(failure.message)")
            // A failure of the command itself is more specific than a failure to write.
            if status == .done { status = failure.status }
        }
        exit(status.rawValue)
    }

    /// Runs one command line.
    static func run(_ arguments: [String], output: Output, error: Output) -> ExitStatus {
        if let help = ShortHelp.text(for: arguments) {
            output.line(help)
            return .done
        }
        let arguments = ShortHelp.spelled(arguments)
        do {
            let words = CommandLineWords(words: arguments)
            var command = try RootCommand.parseAsRoot(words.ordered())
            if let repeated = words.repeatedOption { throw CommandFailure.usage(repeated) }
            try command.run()
            return .done
        } catch let failure as CommandFailure {
            if !failure.message.isEmpty { error.line("xferctl: \(failure.message)") }
            return failure.status
        } catch let request {
            return answer(request, arguments, output: output, error: error)
        }
    }

    /// Prints an error of the parser. Requests for help, the version or a completion script succeed. All other errors
    /// are usage errors, whose status is 2 here, not 64 as in sysexits(3).
    private static func answer(
        _ request: any Error, _ arguments: [String], output: Output, error: Output
    ) -> ExitStatus {
        let text = RootCommand.fullMessage(for: request)
        guard RootCommand.exitCode(for: request) != .success else {
            output.line(text)
            return .done
        }
        if let unknown = CommandLineWords(words: arguments).unknownOption {
            error.line("xferctl: \(unknown)")
            return .usage
        }
        let prefix = "Error: "
        error.line("xferctl: " + withoutUsage(text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text))
        return .usage
    }

    /// Removes the parser's lines about the whole verb if the option's own help lists the accepted values.
    static func withoutUsage(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let help = lines.firstIndex(where: { $0.hasPrefix("Help:") }),
            let usage = lines.firstIndex(where: { $0.hasPrefix("Usage:") }), help < usage
        else { return text }
        return lines[..<usage].joined(separator: "\n")
    }
}
