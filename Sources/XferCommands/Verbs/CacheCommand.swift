import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl cache`: the `cache.*` methods.
struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "List, store and remove cached responses.",
        discussion: """
            Responses are stored and used only if the task or its profile says so: `xferctl add --cache-policy \
            protocol` follows the servers' Cache-Control (RFC 9111).
            """,
        subcommands: [Stats.self, List.self, Show.self, Put.self, Remove.self, Clear.self, Trim.self],
        defaultSubcommand: Stats.self)

    struct Stats: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "stats", abstract: "Show the size of the cache.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            options.show(try options.open().call(CacheStats.self)) { result, _ in CacheText.lines(result) }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List cached responses, the newest first.")

        @OptionGroup var pages: PageOptions
        @OptionGroup var order: OrderOption
        @OptionGroup var options: VerbOptions

        func run() throws {
            var params = CacheList.Params()
            params.order = order.value
            try pages.show(CacheList.self, options, params) { CacheText.lines($0, $1) }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a cached response.", aliases: ["get"])

        @Argument(help: "Id of the entry.", completion: .daemon(.cacheEntries), transform: entryID)
        var id: CacheEntryID

        @OptionGroup var options: VerbOptions

        func run() throws {
            options.show(try options.open().call(CacheGet.self, CacheGet.Params(id: id))) { result, terminal in
                CacheText.lines(result.entry, terminal)
            }
        }
    }

    struct Put: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "put",
            abstract: "Store a file's content as the response of a URL.",
            discussion: """
                Your tasks take it without a request if their cache policy uses the cache: `xferctl add --cache-policy \
                prefer_cache URL`. It replaces what is cached for the URL. The file is copied, and only you use the \
                copy. Beyond the setting cache.max_bytes, the least recently used responses are removed.
                """)

        @Argument(help: "The URL, as tasks will request it.")
        var url: String

        @Argument(
            help: ArgumentHelp(
                "The content; - reads it from standard input, just under 3 MiB at most.", valueName: "file"),
            completion: .file())
        var file: String

        @Option(
            help: ArgumentHelp(
                "Store nothing unless the content has this digest: sha-256=HEX (or sha-512, sha-384, sha-224, blake2b, "
                    + "sha-1, md5), HEX alone, sha256-BASE64, or a line of a checksum file.",
                valueName: "digest"),
            transform: Checksum.option)
        var checksum: Checksum?

        @Option(
            help: ArgumentHelp(
                "Use it without a request for this long with --cache-policy protocol (default: a day).",
                valueName: "time"),
            transform: TimeSpan.argument)
        var maxAge: TimeSpan?

        @Option(help: ArgumentHelp("Media type of the content, such as text/plain.", valueName: "type"))
        var contentType: String?

        @Option(
            help: ArgumentHelp(
                "The --cache-key of the tasks that are to use it: a text, or JSON.", valueName: "text or json"),
            transform: CacheKeyInput.argument)
        var cacheKey: CacheKeyInput?

        @OptionGroup var options: ActionOptions

        /// Copying a large file takes longer than other calls.
        private static let patience = Duration.seconds(3600)

        func run() throws {
            var params = CachePut.Params(url: url)
            if file == "-" {
                let remedy = "save it to a file, and give its name in place of -"
                let bytes = try FileText.content(option: "standard input", remedy)
                guard bytes.count / 3 * 4 < FileText.contentLimit else {
                    throw FileText.tooLong(option: "standard input", remedy)
                }
                params.base64 = Base64Text(bytes)
            } else {
                params.file = try path()
            }
            params.checksum = checksum
            if let maxAge { params.maxAge = maxAge.wholeSeconds }
            params.contentType = contentType
            params.cacheKey = cacheKey
            let daemon = try options.open()
            let before = options.output.json ? nil : size(daemon)
            let answer = try daemon.call(CachePut.self, params, timeout: Self.patience)
            options.show(answer) { result, _ in [CacheText.stored(result.entry), CacheText.use] }
            guard let before, let text = CacheText.overflow(before, adding: answer.value.entry.size) else { return }
            Output.error.line("xferctl: \(text)")
        }

        /// The size of the cache, or nil without the right to know it.
        private func size(_ daemon: DaemonSession) -> CacheStats.Result? { try? daemon.call(CacheStats.self).value }

        /// The path of the file for the daemon, which reads it.
        private func path() throws(CommandFailure) -> String {
            guard let paths = PathResolver.current(for: options.connection) else {
                throw .usage("the working directory was removed: give the file's absolute path")
            }
            guard !paths.isRemote || file.hasPrefix("/") else {
                throw .usage(
                    "over --server \(SafeText.sanitised(file)) has to be an absolute path on that machine; "
                        + "- sends standard input")
            }
            return paths.absolute(file)
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove responses, so that they are fetched again.",
            discussion: "Give a URL as it was requested, including the parts that the list shows as ***.")

        @Argument(
            help: ArgumentHelp("Ids of entries, or URLs.", valueName: "id or url"), completion: .daemon(.cacheEntries))
        var entries: [String]

        @OptionGroup var options: ActionOptions

        func run() throws {
            try options.remove(CacheRemove.self, entries) {
                $0 == 0 ? "nothing removed: no such response is kept" : "\($0) removed"
            }
        }
    }

    struct Clear: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear", abstract: "Remove all cached responses; for operators.")

        @OptionGroup var options: ActionOptions

        func run() throws {
            options.show(try options.open().call(CacheClear.self)) { result, _ in
                [CacheText.removed(result, orElse: "the cache is empty")]
            }
        }
    }

    struct Trim: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trim",
            abstract: "Apply the limits now, or lower ones this time only; for operators.",
            discussion: "Above the limit, the least recently used responses are removed until half of it is free.")

        @Option(
            help: ArgumentHelp("Use this size limit, in bytes, instead of the configured one.", valueName: "size"),
            transform: ByteAmount.argument)
        var maxBytes: ByteAmount?

        @Option(
            help: ArgumentHelp(
                "Remove responses that were not used for this long.", valueName: "time"), transform: TimeSpan.argument
        )
        var maxAge: TimeSpan?

        @OptionGroup var options: ActionOptions

        func run() throws {
            var params = CacheTrim.Params()
            params.maxBytes = maxBytes?.bytes
            params.maxAge = maxAge?.wholeSeconds
            options.show(try options.open().call(CacheTrim.self, params)) { result, _ in
                [CacheText.removed(result, orElse: "the cache is within the limits")]
            }
        }
    }

    static func entryID(_ text: String) throws -> CacheEntryID {
        guard let id: CacheEntryID = EntryArgument.id(text) else {
            throw ValidationError("expected an entry's id; see `xferctl cache list`")
        }
        return id
    }
}

/// The texts about the cache.
enum CacheText {
    static func lines(_ entries: [CacheEntryRecord], _ terminal: Terminal) -> [String] {
        var table = Table(columns: [
            Table.Column(title: "ID", alignment: .right), Table.Column(title: "RECEIVED"), Table.Column(title: "USED"),
            Table.Column(title: "FRESH UNTIL"), Table.Column(title: "SIZE", alignment: .right),
            Table.Column(title: "URL", isFlexible: true),
        ])
        table.rows = entries.map { entry in
            [
                Table.Cell("\(entry.id)"), Table.Cell(TimeText.local(entry.receivedAt)),
                Table.Cell(TimeText.local(entry.lastUsedAt)), Table.Cell(entry.freshUntil.map(TimeText.local) ?? "-"),
                Table.Cell(ByteText.size(entry.size)), Table.Cell(entry.url),
            ]
        }
        return table.lines(on: terminal, orElse: "the cache is empty")
    }

    static func lines(_ stats: CacheStats.Result) -> [String] {
        [
            "\(stats.entries) responses, \(ByteText.size(stats.size)) of \(ByteText.size(stats.maxBytes)), kept for "
                + "\(DurationText.short(stats.maxAge)) since their last use"
        ]
    }

    /// Returns one line for each field, named as on the wire; header fields beneath.
    static func lines(_ entry: CacheEntryRecord, _ terminal: Terminal) -> [String] {
        let members = entry.wire.objectValue?.members ?? []
        func line(_ name: String, _ text: String) -> String {
            terminal.style(.bold, TextWidth.padded(name, to: 18)) + SafeText.sanitised(text)
        }
        var lines = members.filter { $0.key != "response_headers" }.map { name, value in
            line(name, TimeText.readable(value.stringValue ?? value.text))
        }
        for field in entry.responseHeaders?.fields ?? [] {
            lines.append("  " + SafeText.sanitised("\(field.name): \(field.value)"))
        }
        return lines
    }

    /// The line about stored content.
    static func stored(_ entry: CacheEntryRecord) -> String {
        let use = entry.freshUntil.map { "fresh until \(TimeText.local($0))" } ?? "stale"
        return "stored as entry \(entry.id) (\(ByteText.size(entry.size))), \(use)"
    }

    /// The line about the use of stored content. By default tasks do not use the cache.
    static var use: String {
        "    Use it with \(SuggestedCommand.text("add --cache-policy prefer_cache URL")); a plain add requests the URL."
    }

    /// The message about content for which others are removed; nil if it fits.
    static func overflow(_ before: CacheStats.Result, adding size: Int64) -> String? {
        guard before.size.addingSaturated(size) > before.maxBytes else { return nil }
        return "the cache is limited to \(ByteText.size(before.maxBytes)): the least recently used responses are "
            + "removed; raise cache.max_bytes to keep all"
    }

    /// The lines about removed responses.
    ///
    /// - Parameter reason: the reason why nothing was removed, if nothing was.
    static func removed(_ result: CacheClear.Result, orElse reason: String) -> String {
        guard result.removedCount > 0 else { return "nothing removed: \(reason)" }
        return "\(result.removedCount) removed, \(ByteText.size(result.removedSize))"
    }
}
