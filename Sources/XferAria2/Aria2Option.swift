/// The options of aria2 1.37 (aria2c(1)) and the treatment of each.
///
/// An unknown option is refused, because it could change trust, credentials, integrity or the destination.
public enum Aria2Option {
    /// Options that become fields of a task.
    public enum Mapped: String, Sendable, CaseIterable {
        case out
        case directory = "dir"
        case checksum
        case header
        case referer
        case userAgent = "user-agent"
        case user = "http-user"
        case password = "http-passwd"
        case split
        case connections = "max-connection-per-server"
        case downloadLimit = "max-download-limit"
        case uploadLimit = "max-upload-limit"
        case pause
        case gid
        case proxy = "all-proxy"
        case proxyUser = "all-proxy-user"
        case proxyPassword = "all-proxy-passwd"
        case httpProxy = "http-proxy"
        case httpProxyUser = "http-proxy-user"
        case httpProxyPassword = "http-proxy-passwd"
        case httpsProxy = "https-proxy"
        case httpsProxyUser = "https-proxy-user"
        case httpsProxyPassword = "https-proxy-passwd"
        case noProxy = "no-proxy"
        case connectTimeout = "connect-timeout"
        case timeout
        case lowestSpeed = "lowest-speed-limit"
        case tries = "max-tries"
        case overwrite = "allow-overwrite"
        case rename = "auto-file-renaming"
        case conditional = "conditional-get"
        case continuing = "continue"
        case remoteTime = "remote-time"
    }

    /// The treatment of an option.
    public enum Treatment: Hashable, Sendable {
        case mapped(Mapped)
        /// It has no effect here, and cannot change trust, credentials, integrity or the destination.
        case ignored
        /// An option that is refused with any value.
        case refused(String)
        /// An option that is refused unless it has this value, which changes nothing.
        case only(String, String)
    }

    public static func treatment(of name: String) -> Treatment {
        if let mapped = Mapped(rawValue: name) { return .mapped(mapped) }
        if let why = refused[name] { return .refused(why) }
        if let (value, why) = restricted[name] { return .only(value, why) }
        if ignored.contains(name) || ignoredPrefixes.contains(where: name.hasPrefix) { return .ignored }
        return .refused("xferd knows no aria2 option of this name")
    }

    /// Options of the whole service that `changeGlobalOption` changes, with the fields of `queue.set_limits`.
    public enum Global: String, Sendable, CaseIterable {
        case concurrent = "max-concurrent-downloads"
        case downloadLimit = "max-overall-download-limit"
        case uploadLimit = "max-overall-upload-limit"
    }

    /// Reads a number of bytes per second.
    public static func bytes(_ name: String, _ text: String) throws(Aria2Fault) -> Int64 {
        guard let bytes = Aria2Value.bytes(text) else {
            throw .option(name, "expected bytes per second, for example 500K or 10M; 0 is unlimited")
        }
        return bytes
    }

    /// The reason why `changeGlobalOption` refuses an option that is neither ignored nor one of `Global`.
    public static func globalRefusal(of name: String) -> String {
        let shown = name.prefix(40)
        switch treatment(of: name) {
        case .mapped: return "\(shown): give it with each download, or configure xferd"
        case .refused(let why), .only(_, let why): return "\(shown): \(why)"
        case .ignored: return "\(shown): it has no effect"
        }
    }

    private static let trust = "trust is configured in xferd, by policies and profiles"
    private static let file = "clients cannot refer to files of the server"
    private static let cookies = "cookies belong to profiles of xferd; send one with header"
    private static let service = "this is configured in xferd"
    private static let scheme = "only http and https are supported"

    static let refused: [String: String] = [
        "ca-certificate": trust, "certificate": trust, "private-key": trust, "ssh-host-key-md": trust,
        "min-tls-version": trust, "interface": service, "multiple-interface": service, "async-dns-server": trust,
        "load-cookies": cookies, "save-cookies": cookies, "netrc-path": file,
        "save-session": file, "save-session-interval": service, "input-file": file, "conf-path": file, "log": file,
        "server-stat-if": file, "server-stat-of": file, "dht-file-path": file, "dht-file-path6": file,
        "on-download-complete": "commands are configured in xferd, as hooks",
        "on-download-error": "commands are configured in xferd, as hooks",
        "on-download-pause": "commands are configured in xferd, as hooks",
        "on-download-start": "commands are configured in xferd, as hooks",
        "on-download-stop": "commands are configured in xferd, as hooks",
        "on-bt-download-complete": "commands are configured in xferd, as hooks",
        "ftp-user": scheme, "ftp-passwd": scheme, "ftp-proxy": scheme, "ftp-proxy-user": scheme,
        "ftp-proxy-passwd": scheme, "torrent-file": scheme, "metalink-file": scheme, "index-out": scheme,
        "rpc-secret": service, "rpc-user": service, "rpc-passwd": service, "rpc-certificate": service,
        "rpc-private-key": service, "rpc-secure": service, "rpc-listen-all": service, "rpc-listen-port": service,
        "rpc-allow-origin-all": service, "enable-rpc": service, "stop": service,
        "daemon": "downloads run in the background in any case; `xferctl add` adds one without waiting",
        "stop-with-process": service, "event-poll": service, "rlimit-nofile": service,
    ]

    static let restricted: [String: (value: String, why: String)] = [
        "check-certificate": ("true", trust),
        "parameterized-uri": ("false", "URIs are not expanded"),
        "dry-run": ("false", "nothing would be downloaded"),
        "check-integrity": ("false", "use checksum: kept bytes are checked with it"),
        "hash-check-only": ("false", "use checksum"),
        "use-head": ("false", "xferd decides which requests it needs"),
        "proxy-method": ("get", "xferd uses CONNECT for https and GET for http"),
    ]

    private static let ignoredPrefixes = ["bt-", "dht-", "peer-", "metalink-", "seed-", "ftp-"]

    static let ignored: Set<String> = [
        "allow-piece-length-change", "always-resume", "async-dns", "auto-save-interval", "console-log-level",
        "content-disposition-default-utf8",
        "deferred-input", "disable-ipv6", "disk-cache", "download-result", "dscp", "enable-async-dns6",
        "enable-color", "enable-dht", "enable-dht6", "enable-http-keep-alive", "enable-http-pipelining", "enable-mmap",
        "enable-peer-exchange", "file-allocation", "follow-metalink", "follow-torrent", "force-save",
        "force-sequential", "http-accept-gzip", "http-auth-challenge", "http-no-cache", "human-readable",
        "keep-unfinished-download-result", "listen-port", "log-level", "max-concurrent-downloads",
        "max-download-result", "max-file-not-found", "max-mmap-limit", "max-overall-download-limit",
        "max-overall-upload-limit", "max-resume-failure-tries", "min-split-size", "no-conf",
        "no-file-allocation-limit", "no-netrc", "no-want-digest-header", "optimize-concurrent-downloads",
        "pause-metadata",
        "piece-length", "quiet", "realtime-chunk-checksum", "remove-control-file", "retry-wait", "reuse-uri",
        "rpc-max-request-size", "rpc-save-upload-metadata", "save-not-found", "select-file", "server-stat-timeout",
        "show-console-readout", "show-files", "socket-recv-buffer-size", "stderr", "stream-piece-selector",
        "summary-interval", "truncate-console-readout", "unselect-file", "uri-selector",
    ]
}
