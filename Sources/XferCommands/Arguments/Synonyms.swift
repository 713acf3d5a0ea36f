/// Commands and options of other programs, and their counterparts here.
///
/// Nearness of letters misleads: `unpause` is nearest to `pause`, which does the opposite.
enum Synonyms {
    /// Verbs of pueue, aria2's RPC, package managers and shells.
    private static let commands = [
        "unpause": "resume", "continue": "resume", "unstop": "resume", "go": "resume", "restart": "retry",
        "again": "retry", "redo": "retry", "rerun": "retry", "delete": "remove", "del": "remove", "erase": "remove",
        "unlink": "remove", "clean": "remove --state completed", "clear": "remove --state completed",
        "purge": "remove --state completed", "logs": "log", "journal": "daemon log", "get": "add",
        "download": "add", "fetch": "add", "wget": "add", "curl": "add", "aria2c": "add", "put": "add -T FILE",
        "upload": "add -T FILE", "enqueue": "resume", "stash": "pause", "hold": "pause", "suspend": "pause",
        "kill": "cancel", "abort": "cancel", "terminate": "cancel", "ps": "list", "tasks": "list", "history": "list",
        "top": "watch", "monitor": "watch", "progress": "watch", "tail": "events", "follow": "watch",
        "edit": "update", "change": "update", "modify": "update", "set": "update", "priority": "update --priority",
        "prio": "update --priority", "switch": "move", "reorder": "move", "parallel": "limit --max-active",
        "speed": "limit", "throttle": "limit", "bandwidth": "limit", "quit": "daemon stop", "exit": "daemon stop",
        "check": "doctor", "diagnose": "doctor", "config": "rpc daemon.config", "settings": "rpc daemon.config",
        "hash": "verify", "errors": "failed", "failures": "failed",
        "password": "profile set", "login": "profile set", "cert": "policy", "tls": "policy", "url": "set-source",
        "save": "backup", "dump": "backup", "import": "add -i FILE",
        "jobs": "list",
        "disable": "pause", "enable": "resume", "unlimit": "limit --recv default", "drain": "shutdown --mode drain",
    ]

    /// Verbs that mean something else behind another verb, such as `token delete` and `queue drain`.
    private static let subcommands = ["drain": "pause", "delete": "revoke", "del": "revoke", "erase": "revoke"]

    /// Sentences about verbs that have no counterpart at their place, to follow a semicolon.
    private static let sentences: [String: String] = {
        var sentences = [
            "reload": "the daemon reads its configuration again by itself when the file is saved",
            "version": "`xferctl --version` prints the version",
            "daemon restart": "run `xferctl daemon stop`, then `xferctl daemon start`",
            "batch wait": "did you mean `xferctl batch show ID --wait`?",
        ]
        for verb in ["pause", "resume"] {
            sentences["batch \(verb)"] = "did you mean `xferctl group \(verb) batch-ID`?"
        }
        for verb in ["retry", "cancel", "remove"] {
            sentences["batch \(verb)"] = "did you mean `xferctl \(verb) --group batch-ID`?"
        }
        for verb in ["wait", "retry", "cancel"] {
            sentences["group \(verb)"] = "did you mean `xferctl \(verb) --group NAME`?"
        }
        return sentences
    }()

    /// The counterpart of an unknown verb, by the command line's terms; nil if none is known.
    static func command(_ word: String) -> String? { commands[word.lowercased()] }

    /// The counterpart of an unknown verb among these; nil if none is known.
    static func command(_ word: String, among known: [String]) -> String? {
        [commands, subcommands].lazy.compactMap { $0[word.lowercased()] }.first { meant in
            known.contains(meant.split(separator: " ").first.map(String.init) ?? meant)
        }
    }

    /// The words that have a counterpart among these verbs; for misspelled ones.
    static func words(among known: [String]) -> [String] {
        (Array(commands.keys) + subcommands.keys).filter { command($0, among: known) != nil }.sorted()
    }

    /// A sentence about an unknown verb; nil if there is none.
    ///
    /// - Parameter path: the verbs before it.
    static func sentence(_ word: String, behind path: [String]) -> String? {
        sentences[(path + [word.lowercased()]).joined(separator: " ")]
    }

    /// The counterpart of another program's option.
    private enum Meaning {
        case option(String)
        /// A sentence to follow a semicolon.
        case advice(String)
    }

    private static let redirects = Meaning.advice("redirects are always followed: leave it out")
    private static let failing = Meaning.advice("an error status always fails the task: leave it out")
    private static let insecure = Meaning.advice(
        "to trust one server's certificate, pin it: `xferctl policy pin HOST`, then `xferctl policy set`")
    private static let names = Meaning.advice("the server's file name is used by default: leave it out")
    private static let background = Meaning.advice("every task runs in the background: leave it out")
    private static let continuing = Meaning.advice(
        "every download continues automatically; -c continues the file that another program left")
    private static let recursive = Meaning.advice("xfer follows no links in pages: give it a list with -i FILE")
    private static let parallel = Meaning.advice("it is a limit of the queue: `xferctl limit --max-active COUNT`")

    /// Options of curl, wget, aria2c and pueue for `add`.
    private static let addOptions: [String: Meaning] = [
        "--out": .option("-o FILE"), "--output-document": .option("-o FILE"), "--output-dir": .option("-d DIR"),
        "--directory-prefix": .option("-d DIR"), "--directory": .option("-d DIR"), "-P": .option("-d DIR"),
        "--limit": .option("--limit-rate RATE"), "--max-download-limit": .option("--limit-rate RATE"),
        "--max-overall-download-limit": .advice("it is a limit of the queue: `xferctl limit --recv RATE`"),
        "--rate": .option("--limit-rate RATE"), "--speed": .option("--limit-rate RATE"),
        "--insecure": insecure, "-k": insecure, "--no-check-certificate": insecure, "--check-certificate": insecure,
        "--location": redirects, "-L": redirects, "--fail": failing, "-f": failing, "--show-error": failing,
        "-S": failing, "--content-disposition": names, "--remote-header-name": names, "-J": names,
        "--trust-server-names": names, "--create-dirs": .advice("directories are created automatically: leave it out"),
        "--background": background, "--daemon": background, "-D": background, "--recursive": recursive,
        "-r": .advice("wget's follows links, which xfer does not; curl's is --range BYTES"),
        "--mirrors": .option("--mirror URL"),
        "--tries": .option("--max-retries COUNT"), "--retry": .option("--max-retries COUNT"),
        "--retries": .option("--max-retries COUNT"), "--max-tries": .option("--max-retries COUNT"),
        "-t": .option("--max-retries COUNT"), "--retry-max-time": .option("--retry-for TIME"),
        "--retry-delay": .advice("the time between attempts grows automatically: leave it out"),
        "--retry-wait": .advice("the time between attempts grows automatically: leave it out"),
        "--waitretry": .advice("the time between attempts grows automatically: leave it out"),
        "--continue-at": continuing, "-C": continuing,
        "-G": .option("--param NAME=VALUE"), "--get": .option("--param NAME=VALUE"),
        "--input": .option("-i FILE"), "--no-parent": recursive,
        "--timestamping": .option("--on-conflict update"), "-N": .option("--on-conflict update"),
        "--conditional-get": .option("--on-conflict update"), "--time-cond": .option("--on-conflict update"),
        "-z": .option("--on-conflict update"), "--no-clobber": .option("--on-conflict skip"),
        "-n": .advice("wget's -nc is --on-conflict skip, curl's -n is --netrc"),
        "--allow-overwrite": .option("--on-conflict overwrite"), "--force": .option("--on-conflict overwrite"),
        "--overwrite": .option("--on-conflict overwrite"), "--fail-with-body": failing,
        "--auto-file-renaming": .option("--on-conflict rename"), "--split": .option("--segments COUNT"),
        "--max-connection-per-server": .option("--segments COUNT"), "--connections": .option("--segments COUNT"),
        "-x": .advice("curl's is --proxy URL, aria2c's is --segments COUNT"),
        "-s": .advice("curl's is --quiet, aria2c's is --segments COUNT"), "--silent": .option("--quiet"),
        "--no-verbose": .option("--quiet"), "--verbose": .advice("`xferctl log ID` and `xferctl events` show more"),
        "-v": .advice("`xferctl log ID` and `xferctl events` show more"),
        "-j": parallel, "--max-concurrent-downloads": parallel, "-Z": parallel, "--parallel": parallel,
        "--parallel-max": parallel, "--max-time": .option("--total-timeout TIME"),
        "-m": .advice("wget's follows links, which xfer does not; curl's is --total-timeout TIME"),
        "--spider": .option("--request HEAD"),
        "--read-timeout": .option("--idle-timeout TIME"), "--speed-limit": .option("--min-rate RATE"),
        "-Y": .option("--min-rate RATE"), "--lowest-speed-limit": .option("--min-rate RATE"),
        "--speed-time": .option("--min-rate-time TIME"), "-y": .option("--min-rate-time TIME"),
        "--password": .option("-u USER, which prompts for it, or --password-file FILE"),
        "--http-user": .option("-u USER"), "--username": .option("-u USER"),
        "--http-passwd": .option("--password-file FILE"), "--http-password": .option("--password-file FILE"),
        "--oauth2-bearer": .option("--bearer-file FILE"), "--token": .option("--bearer-file FILE"),
        "--proxy-password": .option("--proxy-user USER with --proxy-password-file FILE"),
        "--all-proxy-passwd": .option("--proxy-user USER with --proxy-password-file FILE"),
        "--all-proxy": .option("--proxy URL"), "--http-proxy": .option("--proxy URL"),
        "--https-proxy": .option("--proxy URL"), "--noproxy": .option("--no-proxy HOSTS"),
        "--socks5": .option("--proxy socks5://HOST:PORT"), "--socks5-hostname": .option("--proxy socks5h://HOST:PORT"),
        "--load-cookies": .option("--cookie FILE"), "--save-cookies": .option("--profile NAME, which keeps cookies"),
        "--cookie-jar": .option("--profile NAME, which keeps cookies"),
        "--ca-certificate": .option("--cacert FILE"), "--certificate": .option("--cert FILE"),
        "--private-key": .option("--key FILE"), "--max-filesize": .option("--max-size SIZE"),
        "--head": .option("--request HEAD"), "-I": .option("--request HEAD"), "--method": .option("--request METHOD"),
        "--post-data": .option("--data TEXT"), "--body-data": .option("--data TEXT"),
        "--post-file": .option("--data-binary @FILE"), "--body-file": .option("--data-binary @FILE"),
        "--data-urlencode": .option("-X POST --param NAME=VALUE"),
        "--write-out": .advice("`add --wait --json` prints every field, such as http_status"),
        "--data-raw": .option("--data TEXT"), "--url-query": .option("--param NAME=VALUE"),
        "--compressed": .advice(
            "a download stays as the server sends it: leave it out; --kind data with -H 'Accept-Encoding: gzip' decodes"
        ),
        "--sha256": .option("--checksum sha-256=HEX"), "--hash": .option("--checksum HEX"),
        "--md5": .option("--checksum md5=HEX"), "--pause": .option("--paused"), "--stashed": .option("--paused"),
        "--delay": .option("--not-before TIME"), "--schedule": .option("--not-before TIME"),
        "--at": .option("--not-before TIME"), "--quota": .option("--max-size SIZE"),
        "--on-download-complete": .option("--on-complete HOOK"), "--on-download-error": .option("--on-error HOOK"),
        "--enable-rpc": background, "--name": .option("-o FILE"),
    ]

    /// Options for all verbs.
    private static let options: [String: Meaning] = [
        "--silent": .option("--quiet"), "--filter": .option("--state, --group, --host or --label"),
        "--status": .option("--state STATE"), "--tag": .option("--label TEXT"), "--domain": .option("--host HOST"),
        "--force": .advice("no command prompts before it acts: leave the option out"), "-f": .advice("see its --help"),
        "--yes": .advice("no command prompts before it acts: leave the option out"),
        "-y": .advice("no command prompts before it acts: leave the option out"), "--host-name": .option("--host HOST"),
        "--watch": .advice("`xferctl watch` follows the queue"),
        "--follow": .advice("`xferctl watch` follows the queue"),
        "--wait": .advice("`xferctl wait ID` waits for a task"),
        "--limit-rate": .option("--recv RATE"), "--url": .advice("`xferctl set-source ID URL` sets another URL"),
        "--output-json": .option("--json"), "--format": .option("--json, or --columns of list"),
        "-h": .option("--help"), "--batch": .option("--group batch-ID"), "--last": .option("-n COUNT"),
    ]

    /// Letters that are flags without a value in curl.
    static let flags = Set<Character>("fsSLkJvNIGgn")

    /// Options that mean something for `remove` alone.
    private static let removeOptions: [String: Meaning] = {
        let ages = Meaning.advice("history.max_age of the configuration removes ended tasks by their age")
        return ["--until": ages, "--before": ages, "--older-than": ages, "--age": ages, "--older": ages]
    }()

    /// Returns advice in place of an unknown option, to follow a semicolon; nil if none is known.
    ///
    /// - Parameter names: the options of the verb; no other option is suggested.
    static func advice(on option: String, of path: [String], having names: [String]) -> String? {
        let isAdd = path == ["add"] || path == ["batch", "add"]
        let own = isAdd ? addOptions : path == ["remove"] ? removeOptions : [:]
        guard let meaning = own[option] ?? options[option] else { return nil }
        switch meaning {
        case .advice(let text): return text
        case .option(let text):
            let first = text.split(whereSeparator: { " ,".contains($0) }).first.map(String.init) ?? text
            guard names.contains(first) else { return nil }
            return "did you mean \(text)?"
        }
    }

    /// A message about a known option with a value that it has in other programs; nil if there is none.
    ///
    /// - Parameters:
    ///   - word: the option, perhaps together with its value.
    ///   - value: the next word.
    static func advice(on word: String, value: String?, of path: [String]) -> String? {
        if path == ["add"], !word.hasPrefix("--"), word.hasSuffix("O-") {
            return "-O takes no value; wget's -O - is -o - here"
        }
        let column = value.map { String($0.dropFirst()) } ?? ""
        if path == ["list"], word == "--sort", value?.hasPrefix("-") == true, TaskColumn(rawValue: column) != nil {
            return "--sort takes a column; did you mean --sort \(column) --reverse?"
        }
        return nil
    }

    /// True if one word is the other one's opposite, such as `unpause` and `pause`, `--no-wait` and `--wait`.
    static func areOpposite(_ one: String, _ other: String) -> Bool {
        let words = [one, other].map { word in word.drop { $0 == "-" } }
        let (short, long) = words[0].count < words[1].count ? (words[0], words[1]) : (words[1], words[0])
        return ["un", "no", "no-", "dis", "de", "non-", "in"].contains { $0 + short == long }
    }
}
