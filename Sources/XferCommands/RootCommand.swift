import ArgumentParser
import CVersion
import XferModel
import XferProtocol

/// `xferctl`: the tree of verbs.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "xferctl",
        abstract: "Command the background transfer service xferd.",
        discussion: """
            Transfers belong to the daemon: they continue when xferctl ends, when you log out, and when the machine \
            restarts. Ctrl-C never stops a transfer, `xferctl cancel` does.

            Exit statuses:

            """ + ExitStatus.allCases.map { "  \($0.rawValue)  \($0.meaning)" }.joined(separator: "\n"),
        version: XferVersion.text(commit: String(cString: xfer_commit())),
        groupedSubcommands: [
            CommandGroup(
                name: "Tasks:",
                subcommands: [
                    AddCommand.self, ListCommand.self, ShowCommand.self, LogCommand.self, FailedCommand.self,
                    WaitCommand.self, WatchCommand.self, NotifyCommand.self,
                    PauseCommand.self, ResumeCommand.self, CancelCommand.self, RetryCommand.self, RemoveCommand.self,
                    UpdateCommand.self, MoveCommand.self, SetSourceCommand.self, CommitCommand.self, CatCommand.self,
                    ResultCommand.self, VerifyCommand.self, ExportCommand.self,
                ]),
            CommandGroup(
                name: "Service:",
                subcommands: [
                    QueueCommand.self, BatchCommand.self, GroupCommand.self, SlotCommand.self,
                    OperationCommand.self, FailedURLCommand.self, StrictTransportCommand.self,
                    CacheCommand.self, LimitCommand.self, HostsCommand.self, PolicyCommand.self, ProfileCommand.self,
                    HookCommand.self,
                    WebhookCommand.self, TokenCommand.self,
                    NetworkCommand.self, EventsCommand.self, FleetCommand.self,
                    DaemonCommand.self, StatusCommand.self, DoctorCommand.self, BackupCommand.self,
                    ShutdownCommand.self,
                    RPCCommand.self,
                ]),
            CommandGroup(
                name: "Shell:", subcommands: [CompletionsCommand.self, CompleteCommand.self, ManualCommand.self]),
        ])
}
