import XferAria2

/// A command line as aria2c(1) reads it (getopt_long(3)).
struct Aria2CommandLine: Hashable {
    /// Options with their long names, in their order.
    var options: [(name: String, value: String)] = []
    var arguments: [String] = []
    var wantsHelp = false
    var wantsVersion = false

    static func == (left: Aria2CommandLine, right: Aria2CommandLine) -> Bool {
        left.arguments == right.arguments && left.options.map(\.name) == right.options.map(\.name)
            && left.options.map(\.value) == right.options.map(\.value)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(arguments) }

    /// - Throws: a fault with the option that cannot be read.
    init(_ words: [String]) throws(Aria2Fault) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                arguments += rest
                return
            }
            if word.hasPrefix("--") {
                try readLong(word.dropFirst(2), &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try readShort(word.dropFirst(), &rest)
            } else {
                arguments.append(word)
            }
        }
    }

    /// The last value of an option.
    func value(_ name: String) -> String? { options.last { $0.name == name }?.value }

    private mutating func readLong(_ word: Substring, _ rest: inout ArraySlice<String>) throws(Aria2Fault) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map(String.init) ?? ""
        if parts.count == 2 {
            add(name, String(parts[1]))
        } else if Self.flags.contains(name) {
            add(name, "true")
        } else {
            guard let value = rest.popFirst() else { throw Aria2Fault("--\(name): expected a value") }
            add(name, value)
        }
    }

    private mutating func readShort(_ word: Substring, _ rest: inout ArraySlice<String>) throws(Aria2Fault) {
        var letters = word
        while let letter = letters.popFirst() {
            guard let name = Self.short[letter] else { throw Aria2Fault("-\(letter): there is no such option") }
            if Self.flags.contains(name) {
                // A value, if there is one, follows at once: -ctrue.
                if letters == "true" || letters == "false" {
                    add(name, String(letters))
                    return
                }
                add(name, "true")
            } else {
                guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
                    throw Aria2Fault("-\(letter): expected a value")
                }
                add(name, value)
                return
            }
        }
    }

    private mutating func add(_ name: String, _ value: String) {
        switch name {
        case "help": wantsHelp = true
        case "version": wantsVersion = true
        default: options.append((name, value))
        }
    }

    private static let short: [Character: String] = [
        "d": "dir", "o": "out", "s": "split", "x": "max-connection-per-server", "k": "min-split-size",
        "c": "continue", "i": "input-file", "j": "max-concurrent-downloads", "l": "log", "q": "quiet", "t": "timeout",
        "m": "max-tries", "U": "user-agent", "Z": "force-sequential", "D": "daemon", "n": "no-netrc",
        "P": "parameterized-uri", "R": "remote-time", "a": "file-allocation", "V": "check-integrity",
        "S": "show-files", "M": "metalink-file", "T": "torrent-file", "O": "index-out", "u": "max-upload-limit",
        "p": "ftp-pasv", "h": "help", "v": "version",
    ]

    /// Options whose value may be left out, and then is `true`.
    private static let flags: Set<String> = [
        "allow-overwrite", "allow-piece-length-change", "always-resume", "async-dns", "auto-file-renaming",
        "bt-detach-seed-only", "bt-enable-hook-after-hash-check", "bt-enable-lpd", "bt-force-encryption",
        "bt-hash-check-seed", "bt-load-saved-metadata", "bt-metadata-only", "bt-remove-unselected-file",
        "bt-require-crypto", "bt-save-metadata", "bt-seed-unverified", "check-certificate", "check-integrity",
        "conditional-get", "content-disposition-default-utf8", "continue", "daemon", "deferred-input", "disable-ipv6",
        "dry-run", "enable-color", "enable-dht", "enable-dht6", "enable-http-keep-alive", "enable-http-pipelining",
        "enable-mmap", "enable-peer-exchange", "enable-rpc", "follow-metalink", "follow-torrent", "force-save",
        "force-sequential", "ftp-pasv", "ftp-reuse-connection", "hash-check-only", "help", "http-accept-gzip",
        "http-auth-challenge", "http-no-cache", "human-readable", "keep-unfinished-download-result",
        "metalink-enable-unique-protocol", "no-conf", "no-netrc", "no-want-digest-header",
        "optimize-concurrent-downloads", "parameterized-uri", "pause", "pause-metadata", "quiet",
        "realtime-chunk-checksum", "remote-time", "remove-control-file", "reuse-uri", "rpc-allow-origin-all",
        "rpc-listen-all", "rpc-save-upload-metadata", "rpc-secure", "save-not-found", "show-console-readout",
        "show-files", "stderr", "truncate-console-readout", "use-head", "version",
    ]
}
