import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl backup`: `daemon.backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the daemon's database into a new file while it runs.",
        discussion: """
            The daemon writes the file, with mode 0600: it needs a directory that the daemon can write to, under the \
            system's unit one beneath /var/lib/xferd. The copy contains the queue, the history and the credentials of \
            tasks, but no partial files and no cached responses. xferd --restore FILE reads it. For operators.
            """)

    @Argument(help: ArgumentHelp("A file that does not exist.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var options: ActionOptions

    /// A large database takes longer than other calls.
    private static let patience = Duration.seconds(3600)

    mutating func validate() throws {
        guard file != "-" else {
            throw ValidationError("expected a file: the daemon writes it, and not this command. ./- is a file.")
        }
    }

    func run() throws {
        guard let paths = PathResolver.current(for: options.connection) else {
            throw CommandFailure.usage("the working directory was removed: give the file's absolute path")
        }
        let params = DaemonBackup.Params(file: paths.absolute(file))
        let answer = try options.open().call(DaemonBackup.self, params, timeout: Self.patience)
        options.show(answer) { copy, _ in
            let size = ByteText.size(copy.size)
            return ["\(SafeText.sanitised(copy.file)) contains the database, \(size), up to event \(copy.seq)"]
        }
    }
}
