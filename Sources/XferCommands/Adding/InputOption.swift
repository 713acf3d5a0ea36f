import XferProtocol

/// An aria2 option that an entry of an input file may have.
///
/// An option changes the task; or it is ignored with a warning, if it changes only how a file is transferred, but
/// neither the file nor its source or destination; or it refuses the entry.
enum InputOption: String, CaseIterable {
    case out, dir, checksum, header, referer, split, pause, timeout
    case connections = "max-connection-per-server"
    case userAgent = "user-agent"
    case receiveLimit = "max-download-limit"
    case sendLimit = "max-upload-limit"
    case maxTries = "max-tries"
    case lowestSpeed = "lowest-speed-limit"
    case connectTimeout = "connect-timeout"
    case remoteTime = "remote-time"
    case allowOverwrite = "allow-overwrite"
    case autoFileRenaming = "auto-file-renaming"
    case conditionalGet = "conditional-get"
    case continuing = "continue"
    case noCache = "http-no-cache"
    case proxy = "all-proxy"
    case httpProxy = "http-proxy"
    case httpsProxy = "https-proxy"
    case noProxy = "no-proxy"

    /// The treatment of an option that changes no task; nil is an option that does.
    enum Verdict: Hashable {
        case ignored
        /// The option is refused, with advice for the user.
        case refused(String)
    }

    static func verdict(_ name: String) -> Verdict? {
        if InputOption(rawValue: name) != nil { return nil }
        if let remedy = refusals[name] { return .refused(remedy) }
        if ignored.contains(name) || name.hasPrefix("bt-") || name.hasPrefix("enable-") { return .ignored }
        let known = allCases.map(\.rawValue) + refusals.keys + ignored
        let hint = known.closest(to: name).map { "; did you mean \($0)?" } ?? ""
        return .refused("there is no such option of aria2's\(hint)")
    }

    private static let login =
        "a list cannot contain a login: give -u USER with --password-file or --password-from, --netrc, or --profile"
    private static let proxyLogin = "a list cannot contain a login: give --proxy with --proxy-user, or --profile"
    private static let trust = "a list does not say which servers are trusted: see `xferctl policy`"
    private static let nothing = "it transfers nothing; leave the entry out of the list"
    private static let scheme = "only http and https are supported"

    /// Options that could change trust, credentials, integrity, the source or the destination.
    private static let refusals: [String: String] = [
        "http-user": login, "http-passwd": login, "ftp-user": login, "ftp-passwd": login, "rpc-secret": login,
        "load-cookies": "cookies belong to a profile: give --profile with --cookies", "no-netrc": login,
        "netrc-path": login, "certificate": "give --cert and --key", "private-key": "give --cert and --key",
        "all-proxy-user": proxyLogin, "all-proxy-passwd": proxyLogin, "http-proxy-user": proxyLogin,
        "http-proxy-passwd": proxyLogin, "https-proxy-user": proxyLogin, "https-proxy-passwd": proxyLogin,
        "ftp-proxy-user": proxyLogin, "ftp-proxy-passwd": proxyLogin, "check-certificate": trust,
        "ca-certificate": trust, "min-tls-version": trust, "ssh-host-key-md": trust, "ftp-proxy": scheme,
        "hash-check-only": nothing, "dry-run": nothing,
        "parameterized-uri": "write every URL out",
        "index-out": "torrents and metalinks are not read", "select-file": "torrents and metalinks are not read",
        "metalink-base-uri": "torrents and metalinks are not read",
        "on-download-complete": "give --on-complete HOOK", "on-download-error": "give --on-error HOOK",
    ]

    /// Options that change the way of fetching, and have no equivalent here.
    private static let ignored: Set<String> = [
        "allow-piece-length-change", "always-resume", "async-dns", "check-integrity",
        "content-disposition-default-utf8", "disk-cache", "file-allocation", "follow-metalink", "follow-torrent",
        "force-save", "ftp-pasv", "ftp-reuse-connection", "ftp-type", "gid", "http-accept-gzip", "http-auth-challenge",
        "keep-unfinished-download-result", "max-file-not-found",
        "max-mmap-limit", "max-resume-failure-tries", "metalink-enable-unique-protocol", "metalink-language",
        "metalink-location", "metalink-os", "metalink-preferred-protocol", "metalink-version", "min-split-size",
        "no-file-allocation-limit", "no-want-digest-header", "pause-metadata", "piece-length", "proxy-method",
        "realtime-chunk-checksum", "remove-control-file", "retry-wait", "reuse-uri", "rpc-save-upload-metadata",
        "save-not-found", "seed-ratio", "seed-time", "stream-piece-selector", "uri-selector", "use-head",
    ]
}
