import ArgumentParser
import Testing
import XferModel
import XferTestSupport

@testable import XferCommands

@Suite struct CommandLineWordsTests {
    private func ordered(_ line: String) throws(CommandFailure) -> String {
        let words = line.split(separator: " ").map(String.init)
        return try CommandLineWords(words: words).ordered().joined(separator: " ")
    }

    @Test(arguments: [
        ("--json list", "list --json"), ("--socket /s list --failed", "list --socket /s --failed"),
        ("--socket=/s --json policy set a", "policy set --socket=/s --json a"), ("--system status", "status --system"),
        ("--json", "--json"), ("--help", "--help"), ("--version", "--version"), ("-- list", "-- list"),
        ("-q add http://h/", "add -q http://h/"), ("--json --quiet wait 1", "wait --json --quiet 1"),
        ("--wait add http://h/", "--wait add http://h/"), ("list --json", "list --json"), ("", ""),
    ])
    func anOptionOfEveryVerbMayStandBeforeTheVerb(line: String, expected: String) throws {
        #expect(try ordered(line) == expected)
    }

    @Test(arguments: [
        ("list -n1", "list -n 1"), ("list -n=1", "list -n 1"), ("add -ofile http://h/", "add -o file http://h/"),
        ("add -i-", "add -i -"), ("add -o -x http://h/", "add -o -x http://h/"), ("add -- -ofile", "add -- -ofile"),
        ("add -ofile -- -ofile", "add -o file -- -ofile"), ("list -xyz", "list -xyz"), ("pause -1", "pause -1"),
        ("add -o -- -ofile", "add -o -- -o file"), ("add -qo- http://h/", "add -qo - http://h/"),
        ("add -qofile http://h/", "add -qo file http://h/"), ("add -wqo -x http://h/", "add -wqo -x http://h/"),
        ("add -wx1 http://h/", "add -wx1 http://h/"),
    ])
    func theValueOfAShortOptionMayBeJoinedToIt(line: String, expected: String) throws {
        #expect(try ordered(line) == expected)
    }

    @Test(arguments: [
        ("add -T a -T p http://h/", "-T is given twice, but takes one value"),
        ("add -Ta --upload-file=p http://h/", "-T and --upload-file are one option, which takes one value"),
        ("add --data-binary a --data-binary=b http://h/", "--data-binary is given twice, but takes one value"),
        ("add -b jar.txt http://h/ -b x=1", "-b is given twice, but takes one value"),
        ("add -qo a -wo b http://h/", "-o is given twice, but takes one value"),
        (
            "add --max-redirs 1 --max-redirects 2 u",
            "--max-redirs and --max-redirects are one option, which takes one value"
        ),
        // The daemon's place is an alias's or a wrapper's, or the user's: the last one counts.
        ("--socket /a status --socket /b", nil),
        ("--server u --token-file a --server-ca c status --server v --token-file b --server-ca=d", nil),
        ("list -n1 --limit 2", "-n and --limit are one option, which takes one value"),
        ("add --data a --data b -F a=1 -F b=2 -H A:b -H C:d http://h/", nil), ("add -o --dir -d x http://h/", nil),
        ("add -q -q -o a -- -o b", nil), ("list --state failed --state running", nil), ("--help", nil), ("", nil),
    ])
    func anOptionWithOneValueThatIsGivenTwiceIsNamed(line: String, message: String?) {
        let words = line.split(separator: " ").map(String.init)
        #expect(CommandLineWords(words: words).repeatedOption == message)
    }

    /// Without the letters of an option, the first glance would miss `-T a --upload-file b`.
    @Test func theFirstGlanceKnowsAllNamesOfEachOptionWithOneValue() throws {
        func check(_ tree: CommandTree) {
            for argument in tree.arguments where argument.kind == .option && !argument.isRepeating {
                let names = Set(argument.names.map { CommandLineWords.letters[$0] ?? $0 })
                #expect(names.count == 1, "\(tree.name): \(argument.names)")
            }
            tree.subcommands.forEach(check)
        }
        check(try CommandTree.ofThisProgram())
    }

    @Test(arguments: [
        ("remov", "unknown command \"remov\"; did you mean remove?"),
        ("--json lst", "unknown command \"lst\"; did you mean list?"),
        ("https://me:secret@h/", "a command is expected before the URL; did you mean `xferctl add URL`?"),
        ("frobnicate 1 2", "unknown command \"frobnicate\"; see `xferctl --help`"),
        ("help paus", "unknown command \"paus\"; did you mean pause?"),
        ("help policy sett", "unknown command \"sett\"; did you mean set?"),
        ("policy sett", "unknown command \"sett\"; did you mean set?"),
        (
            "group nightly",
            "unknown command \"nightly\"; see `xferctl group --help`, or `xferctl group show nightly` for the one of that name"
        ),
        ("queue frobnicate", "unknown command \"frobnicate\"; see `xferctl queue --help`"),
        ("token delete phone", "unknown command \"delete\"; did you mean revoke?"),
        ("queue drain", "unknown command \"drain\"; did you mean pause?"),
        ("drain", "unknown command \"drain\"; did you mean shutdown --mode drain?"),
        (
            "reload",
            "unknown command \"reload\"; the daemon reads its configuration again by itself when the file is saved"
        ),
        ("unpause 7", "unknown command \"unpause\"; did you mean resume?"),
        ("restart 7", "unknown command \"restart\"; did you mean retry?"),
        ("delete 7", "unknown command \"delete\"; did you mean remove?"),
        ("get file", "unknown command \"get\"; did you mean add?"),
        ("journal", "unknown command \"journal\"; did you mean daemon log?"),
        ("queue unpause", "unknown command \"unpause\"; did you mean resume?"),
        ("downlaod u", "unknown command \"downlaod\"; did you mean add?"),
        ("unpasue 7", "unknown command \"unpasue\"; did you mean resume?"),
        ("jobs", "unknown command \"jobs\"; did you mean list?"),
        ("version", "unknown command \"version\"; `xferctl --version` prints the version"),
        (
            "daemon restart",
            "unknown command \"restart\"; run `xferctl daemon stop`, then `xferctl daemon start`"
        ),
        ("batch wait 1", "unknown command \"wait\"; did you mean `xferctl batch show ID --wait`?"),
        ("batch retry 1", "unknown command \"retry\"; did you mean `xferctl retry --group batch-ID`?"),
        ("batch pause 1", "unknown command \"pause\"; did you mean `xferctl group pause batch-ID`?"),
        ("group wait g", "unknown command \"wait\"; did you mean `xferctl wait --group NAME`?"),
        // No synonym among a group's verbs.
        ("queue download", "unknown command \"download\"; see `xferctl queue --help`"),
    ])
    func anUnknownCommandIsRefusedWithTheOneThatWasMeant(line: String, message: String) {
        #expect(throws: CommandFailure.usage(message)) { try ordered(line) }
    }

    @Test(arguments: ["rm 7", "ls", "info 7", "start 7", "stop 7", "help add", "help group pause"])
    func anAliasAndHelpAreKnownCommands(line: String) throws {
        #expect(try ordered(line) == line)
    }

    private static let unknownOptions: [(line: String, message: String?)] = [
        ("remove --files --completed", "unknown option --completed; see `xferctl remove --help`"),
        ("list --jsn", "unknown option --jsn; did you mean --json?"),
        ("pause --sate=failed", "unknown option --sate; did you mean --state?"),
        ("remove --files", nil), ("add -- --json", nil), ("fly --fast", nil),
        ("add --out x http://h/", "unknown option --out; did you mean -o FILE?"),
        ("add -L http://h/", "unknown option -L; redirects are always followed: leave it out"),
        (
            "add -k http://h/",
            "unknown option -k; to trust one server's certificate, pin it: `xferctl policy pin HOST`, then `xferctl policy set`"
        ),
        ("add --tries 3 http://h/", "unknown option --tries; did you mean --max-retries COUNT?"),
        ("add --retry=3 http://h/", "unknown option --retry; did you mean --max-retries COUNT?"),
        ("add -P /srv http://h/", "unknown option -P; did you mean -d DIR?"),
        ("add --limit 5K http://h/", "unknown option --limit; did you mean --limit-rate RATE?"),
        ("add -x8 http://h/", "unknown option -x; curl's is --proxy URL, aria2c's is --segments COUNT"),
        ("batch add -j 3", "unknown option -j; it is a limit of the queue: `xferctl limit --max-active COUNT`"),
        (
            "add -fsSL http://h/",
            "unknown options:\n  -f, -S: an error status always fails the task: leave it out\n"
                + "  -s: curl's is --quiet, aria2c's is --segments COUNT\n"
                + "  -L: redirects are always followed: leave it out"
        ),
        (
            "add -sSo x http://h/",
            "unknown options:\n  -s: curl's is --quiet, aria2c's is --segments COUNT\n"
                + "  -S: an error status always fails the task: leave it out"
        ),
        (
            "add --tries 3 --out x -L --tries=4 --frobnicate http://h/",
            "unknown options:\n  --tries: did you mean --max-retries COUNT?\n  --out: did you mean -o FILE?\n"
                + "  -L: redirects are always followed: leave it out\n  --frobnicate: see `xferctl add --help`"
        ),
        ("add -qL http://h/", "unknown option -L; redirects are always followed: leave it out"),
        (
            "add --user=me:secret --out x http://h/",
            "--user takes no value: it chooses your own daemon; a login is -u USER, which prompts for the password\n"
                + "unknown option --out; did you mean -o FILE?"
        ),
        ("list --failed=yes", "--failed takes no value"),
        // The letters behind it are its value.
        ("add -Psub http://h/", "unknown option -P; did you mean -d DIR?"),
        (
            "remove --failed --until 5d",
            "unknown option --until; history.max_age of the configuration removes ended tasks by their age"
        ),
        ("pause --force 3", "unknown option --force; no command prompts before it acts: leave the option out"),
        ("--wait add http://h/", "unknown option --wait before the command; write `xferctl add --wait`"),
        ("--socket /s -w add http://h/", "unknown option -w before the command; write `xferctl add -w`"),
        ("add -qO- http://h/", "-O takes no value; wget's -O - is -o - here"),
        ("list --sort -size", "--sort takes a column; did you mean --sort size --reverse?"),
        ("list --sort --json", nil),
        ("list --batch 1", "unknown option --batch; did you mean --group batch-ID?"),
        (
            "add --data-urlencode a=b http://h/",
            "unknown option --data-urlencode; did you mean -X POST --param NAME=VALUE?"
        ),
        (
            "add --write-out x http://h/",
            "unknown option --write-out; `add --wait --json` prints every field, such as http_status"
        ),
        // A value is no option.
        ("add -o -L http://h/", nil), ("add -o-L http://h/", nil), ("add -4 http://h/", nil),
        ("add --no-wait http://h/", "unknown option --no-wait; see `xferctl add --help`"),
    ]

    @Test(arguments: unknownOptions)
    func anUnknownOptionIsNamedBeforeWhatElseIsWrong(line: String, message: String?) {
        #expect(CommandLineWords(words: line.split(separator: " ").map(String.init)).unknownOption == message)
    }

    @Test func aWordThatOtherProgramsTakeAsAnOptionsValueIsNamedWithTheOption() {
        func refusal(_ urls: String..., flag: String = "-c") -> String? {
            OtherHabits.valueOfFlag(urls, [(flag, true), ("-O", false)])
        }
        #expect(
            refusal("jar", "http://h/")
                == "\"jar\" is no URL; -c takes no value, and curl's -c FILE is --profile NAME, which keeps cookies.")
        #expect(refusal("%{http_code}", "http://h/", flag: "-w")?.contains("--json") == true)
        #expect(refusal("http://h/", "a", flag: "-O")?.contains("-o FILE") == true)
        #expect(refusal("jar") == nil && refusal("http://h/", "http://i/") == nil)
        #expect(
            OtherHabits.valueOfFlag(["me:secret", "http://h/"], [("--user", true)])
                == "--user takes no value: it chooses your own daemon; a login is -u USER, which prompts for the password."
        )
        #expect(refusal("me:secret@h", "http://h/") == nil && refusal("jar", "http://h/", flag: "-q") == nil)
    }

    @Test(arguments: [
        ("h", "h", 443), ("h:8443", "h", 8443), ("[::1]:8443", "[::1]", 8443), ("https://h/a:b?c", "h", 443),
        ("HTTPS://me:secret@h:8443/", "h", 8443), ("<https://[::1]:1/>", "[::1]", 1),
    ])
    func aPinnedServerIsAHostOrAURL(text: String, host: String, port: Int) throws {
        let place = try HostAndPort(text)
        #expect(place.host == host && place.port == port)
    }

    @Test func aPinnedServerIsNoneOfAnotherScheme() {
        #expect(throws: CommandFailure.usage("http://h/: expected a host, or an https URL")) {
            try HostAndPort("http://h/")
        }
    }

    @Test func statesMayBeSeparatedByCommas() {
        #expect(EnumArguments<TaskState>(argument: "failed,running")?.words == [.failed, .running])
        #expect(EnumArguments<TaskState>(argument: "failed")?.words == [.failed])
        for text in ["", "failed,", "failed,odd"] { #expect(EnumArguments<TaskState>(argument: text) == nil) }
    }

    /// A suggestion that the parser refuses is worse than none.
    @Test func everySynonymOfACommandIsOne() throws {
        let words = [
            "unpause", "restart", "delete", "clean", "logs", "journal", "get", "put", "stash", "kill", "ps", "top",
            "edit", "prio", "switch", "parallel", "throttle", "quit", "check", "config", "errors",
            "login", "url", "unlimit", "tail", "import", "dump",
        ]
        let tree = try CommandTree.ofThisProgram()
        for word in words {
            let meant = try #require(Synonyms.command(word), "\(word)")
            let verb = meant.split(separator: " ").first.map(String.init) ?? meant
            #expect(tree.subcommand(verb) != nil, "\(word): \(meant)")
            #expect(tree.subcommand(word) == nil, "\(word) is a command itself")
        }
    }

    @Test func aRefusedValueIsFollowedByTheOptionsHelpAlone() {
        let usage = "Usage: xferctl add\n  See 'xferctl add --help' for more information."
        #expect(CommandLineTool.withoutUsage("wrong\nHelp:  --x  A rate.\n\(usage)") == "wrong\nHelp:  --x  A rate.")
        #expect(CommandLineTool.withoutUsage("wrong\n\(usage)") == "wrong\n\(usage)")
    }

    @Test func theParserReadsOptionsBeforeTheVerbAndJoinedValues() throws {
        let words = try CommandLineWords(words: ["--socket", "/s", "ls", "-n3"]).ordered()
        let command = try #require(try RootCommand.parseAsRoot(words) as? ListCommand)
        #expect(command.pages.limit == 3 && command.options.connection.socket == "/s")
    }
}
