import StrictJSON

/// The manual page `xferctl(1)` in man(7) markup, made from the command tree itself so that it cannot lag behind.
struct ManualPage {
    /// The tree as ArgumentParser dumps it (`ToolInfoV0`).
    let root: JSONValue
    let version: String

    var text: String {
        var page = Roff()
        page.request("TH", ["XFERCTL", "1", "", "xfer \(version)", "User Commands"])
        page.request("SH", ["NAME"])
        page.text("xferctl \\- \(Roff.escaped(root["abstract"]?.stringValue ?? ""))")
        page.request("SH", ["SYNOPSIS"])
        page.text("\\fBxferctl\\fR [\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]")
        page.request("SH", ["DESCRIPTION"])
        page.paragraphs(root["discussion"]?.stringValue ?? "")
        page.request("SH", ["COMMANDS"])
        for command in Self.visible(root["subcommands"]) { describe(command, path: [], in: &page) }
        for section in ManualSections.all {
            page.request("SH", [section.title])
            for entry in section.entries { page.entry(term: "\\fB\(Roff.escaped(entry.term))\\fR", entry.meaning) }
        }
        page.request("SH", ["SEE ALSO"])
        page.text("\\fBxferd\\fR(8), \\fBcurl\\fR(1), \\fBsystemctl\\fR(1)")
        return page.output
    }

    private func describe(_ command: JSONValue, path: [String], in page: inout Roff) {
        let path = path + [command["commandName"]?.stringValue ?? ""]
        let arguments = Self.visible(command["arguments"])
        let positionals = arguments.filter { $0["kind"] == "positional" }.map(Self.synopsis)
        page.request("SS", ["xferctl " + (path + positionals).joined(separator: " ")])
        page.paragraphs(command["abstract"]?.stringValue ?? "")
        page.paragraphs(command["discussion"]?.stringValue ?? "")
        for argument in arguments where argument["valueName"] != "help" && !Self.isShared(argument) {
            page.entry(term: Self.term(argument), Self.meaning(argument))
        }
        for subcommand in Self.visible(command["subcommands"]) { describe(subcommand, path: path, in: &page) }
    }

    private static func visible(_ list: JSONValue?) -> [JSONValue] {
        (list?.arrayValue ?? []).filter { $0["shouldDisplay"] != false && $0["commandName"] != "help" }
    }

    /// Options every command has are described once, in a section of their own.
    private static func isShared(_ argument: JSONValue) -> Bool {
        let name = argument["preferredName"]?["name"]?.stringValue ?? ""
        return ["user", "system", "socket", "help", "version"].contains(name)
            && argument["preferredName"]?["kind"] == "long" && argument["sectionTitle"] != nil
            || ["help", "version"].contains(name)
    }

    private static func synopsis(_ argument: JSONValue) -> String {
        let name = (argument["valueName"]?.stringValue ?? "argument").uppercased()
        let repeated = argument["isRepeating"] == true ? "\(name)..." : name
        return argument["isOptional"] == true ? "[\(repeated)]" : repeated
    }

    private static func term(_ argument: JSONValue) -> String {
        guard argument["kind"] != "positional" else {
            return "\\fI\(Roff.escaped((argument["valueName"]?.stringValue ?? "").uppercased()))\\fR"
        }
        let names = (argument["names"]?.arrayValue ?? []).map { name -> String in
            let dashes = name["kind"] == "long" ? "--" : "-"
            return "\\fB\(Roff.escaped(dashes + (name["name"]?.stringValue ?? "")))\\fR"
        }
        let value =
            argument["kind"] == "option" ? " \\fI\(Roff.escaped(argument["valueName"]?.stringValue ?? ""))\\fR" : ""
        return names.joined(separator: ", ") + value
    }

    private static func meaning(_ argument: JSONValue) -> String {
        var sentences = [argument["abstract"]?.stringValue, argument["discussion"]?.stringValue].compactMap(\.self)
        let values = argument["allValueStrings"]?.arrayValue ?? argument["allValues"]?.arrayValue ?? []
        if !values.isEmpty { sentences.append("One of: \(values.compactMap(\.stringValue).joined(separator: ", ")).") }
        if let standard = argument["defaultValue"]?.stringValue { sentences.append("Default: \(standard).") }
        return sentences.joined(separator: " ")
    }
}

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
                ("--user", "Use only the calling user's own daemon."),
                ("--system", "Use only the system's daemon."),
                ("--socket PATH", "Use the daemon that listens on this Unix socket."),
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
                ("XDG_RUNTIME_DIR", "Directory of the user's own daemon's socket; /run/user/UID when unset."),
                ("NO_COLOR", "No colours when set and not empty."),
            ])
    }

    private static var files: Section {
        Section(
            title: "FILES",
            entries: [
                ("$XDG_RUNTIME_DIR/xferd.sock", "Socket of the user's own daemon."),
                (
                    "~/.local/state/xferd/xferd.sock",
                    "Its socket where no session has a runtime directory, as in containers and under cron."
                ),
                ("~/.local/state/xferd/xferd.log", "Log of a daemon that xferctl started."),
                ("/run/xferd/xferd.sock", "Socket of the system's daemon."),
            ])
    }
}
