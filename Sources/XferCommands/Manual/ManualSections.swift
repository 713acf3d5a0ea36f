/// The parts of the manual that the command tree does not know.
enum ManualSections {
    struct Section {
        var title: String
        var entries: [(term: String, meaning: String)]
    }

    static var all: [Section] { [instance, exitStatus, environment, files] }

    private static var instance: Section {
        Section(
            title: "CHOOSING THE DAEMON",
            entries: [
                ("--user", "Only the calling user's own daemon."),
                ("--system", "Only the system's daemon."),
                ("--socket PATH", "The daemon that listens on this Unix socket."),
                (
                    "(none)",
                    "The socket in XFERD_SOCKET, else the user's own daemon, else the system's; "
                        + "standard error says when the system's is used for want of the user's."
                ),
            ])
    }

    private static var exitStatus: Section {
        Section(title: "EXIT STATUS", entries: ExitStatus.allCases.map { ("\($0.rawValue)", $0.meaning) })
    }

    private static var environment: Section {
        Section(
            title: "ENVIRONMENT",
            entries: [
                ("XFERD_SOCKET", "Path of the daemon's socket."),
                ("XDG_RUNTIME_DIR", "Where the user's own daemon has its socket; /run/user/UID when unset."),
                ("NO_COLOR", "No colours when set and not empty."),
            ])
    }

    private static var files: Section {
        Section(
            title: "FILES",
            entries: [
                ("$XDG_RUNTIME_DIR/xferd.sock", "Socket of the user's own daemon."),
                ("/run/xferd/xferd.sock", "Socket of the system's daemon."),
            ])
    }
}
