import StrictJSON
import XferModel

/// The catalogue of fields that are declared once for all records.
enum TaskFields {
    /// The choices of a task and its profile about a request.
    static let request: [ChoiceField<TransferRequest.Choices>] = [
        ChoiceField(
            "redirect", \.redirect,
            task:
                "Redirects: follow (default) or deny. With deny the redirect's response is the result if "
                + "accept_status allows its status.",
            record: "Whether redirects are followed.", profile: "Whether redirects are followed."),
        ChoiceField(
            "path_as_is", \.keepsPath,
            task:
                "True if . and .. in its URLs' paths are sent unchanged; default false: they are resolved. Redirects "
                + "are resolved in any case.",
            record: "True when . and .. in the paths of its URLs are sent as they are."),
        ChoiceField(
            "max_redirects", \.maxRedirects, task: "Most redirects in a row; default 20.",
            record: "Most redirects in a row; absent is 20.", profile: "Most redirects in a row.",
            limits: [.range(0...1000)]),
        ChoiceField(
            "allow_downgrade", \.allowsDowngrade,
            task: "Whether a redirect may lead from https to http; default false.",
            record: "Whether a redirect may lead from https to http.",
            profile: "Whether a redirect may lead from https to http."),
        ChoiceField(
            "http_version", \.httpVersion, task: "The protocol to use; default auto.", record: "The protocol to use.",
            profile: "The protocol to use."),
        ChoiceField(
            "connect_timeout", \.connectTimeout,
            task: "Seconds for name resolution, TCP and TLS; 0 is none; default 30.",
            record: "Seconds for name resolution, TCP and TLS; 0 is none.", profile: "Seconds; 0 is none.",
            change: .stopped("Seconds; 0 is none; only while not running."), limits: [.timeout]),
        ChoiceField(
            "idle_timeout", \.idleTimeout,
            task: "Seconds without a byte that end a try; 0 is none; default 15 for data, 60 for files.",
            record: "Seconds without a byte that end a try; 0 is none.",
            profile: "Seconds without a byte that end a try; 0 is none.",
            change: .stopped("Seconds; 0 is none; only while not running."), limits: [.timeout]),
        ChoiceField(
            "total_timeout", \.totalTimeout, task: "Seconds that one try may take; 0, the default, is none.",
            record: "Seconds that one try may take; 0 is none.",
            profile: "Seconds that one try may take; 0 is none.",
            change: .stopped("Seconds; 0 is none; only while not running."), limits: [.timeout]),
        ChoiceField(
            "min_recv_rate", \.minReceiveRate,
            task: "Bytes per second that each connection has to receive, measured over min_recv_time; a slower one "
                + "ends the try; 0 is none; default download.min_recv_rate.",
            record: "Bytes per second that each connection has to receive; absent is download.min_recv_rate.",
            profile: "Bytes per second that each connection has to receive; 0 is none.",
            change: .stopped(
                "Bytes per second that each connection has to receive; null is download.min_recv_rate; only while not "
                    + "running.", isNullable: true), limits: [.range(0...TaskLimits.highestRate)]),
        ChoiceField(
            "min_recv_time", \.minReceiveTime,
            task: "Seconds over which min_recv_rate is measured; pauses of the service do not count; default "
                + "download.min_recv_time.",
            record: "Seconds over which min_recv_rate is measured; absent is download.min_recv_time.",
            profile: "Seconds over which min_recv_rate is measured.",
            change: .stopped(
                "Seconds over which min_recv_rate is measured; null is download.min_recv_time; only while not running.",
                isNullable: true), limits: [.number(1...86_400)]),
        ChoiceField(
            "accept_status", \.acceptedStatus,
            task: "Status codes that count as success: ranges and codes between commas; default 200-299.",
            record: "Status codes that count as success.", profile: "Status codes that count as success.",
            example: "200-299,404"),
        ChoiceField(
            "accept_types", \.acceptedTypes,
            task:
                "Media types or ranges (image/*) that count as success, or the presets json, xml, plist, image; default "
                + "all.",
            record: "Media types and ranges that count as success; absent accepts all.",
            profile: "Media types or ranges (image/*), or the presets json, xml, plist, image.",
            limits: [.count(0...64)],
            example: ["json"]),
        ChoiceField(
            "reject_html", \.rejectsPages,
            task: "Whether an answer with a web page (text/html) is a failure; default false.",
            record: "True when an answer with a web page is a failure.",
            profile: "Whether an answer with a web page (text/html) is a failure.",
            change: .stopped("Whether an answer with a web page is a failure; only while not running.")),
        ChoiceField(
            "announced_digests", \.announcedDigests,
            task: "Whether digests that the server announces are verified; default verify.",
            record: "Whether digests that the server announces are verified; absent is verify.",
            profile: "Whether digests that the server announces are verified.",
            change: .stopped(
                "Whether digests that the server announces are verified (ignore: a wrong one is no failure); only while not "
                    + "running.")),
    ]

    static let caching: [ChoiceField<TransferRequest.Choices>] = [
        ChoiceField(
            "cache_policy", \.cachePolicy,
            task:
                "Whether a kept response is used: protocol (RFC 9111), prefer_cache and only_if_cached (however stale), "
                + "revalidate (told of at once, the server is always asked), reload and reload_all (never); default reload.",
            record: "Whether a kept response is used; absent is reload.",
            profile: "Whether kept responses are used; default reload: never."),
        ChoiceField(
            "store", \.storesResponses, task: "Whether the response is kept; default is what cache_policy implies.",
            record: "True when the response is kept.",
            profile: "Whether responses are kept; default is what cache_policy implies."),
    ]

    static let conditions: [ChoiceField<TransferRequest.Choices>] = [
        ChoiceField(
            "allow_metered", \.allowsMetered,
            task: "Whether it may go over links that cost money (network.metered_interfaces); if not, it waits for "
                + "another. Default true.",
            record: "Whether it may go over links that cost money.",
            profile: "Whether tasks may go over links that cost money.",
            change: .anytime(
                "Whether it may go over links that cost money; if not, it stops on one and waits for another."))
    ]

    /// The fields of connections. A profile's values apply to guests, too, who cannot change them.
    static let connections: [ChoiceField<TransferRequest.Choices>] = [
        ChoiceField(
            "ip_version", \.ipVersion, task: "Which addresses to connect to; default any.",
            record: "Which addresses it connects to; absent is any.", profile: "Which addresses to connect to.",
            change: .stopped("Which addresses to connect to; only while not running."), access: .operators),
        ChoiceField(
            "interface", \.interface, task: "The network interface or local address to connect from.",
            record: "The network interface or local address it connects from.",
            profile: "The network interface or local address to connect from.",
            change: .stopped(
                "The network interface or local address to connect from; null is none; only while not running.",
                isNullable: true), access: .operators, example: "eth1"),
        ChoiceField(
            "ca_file", \.authoritiesFile,
            task:
                "Absolute path of a PEM file: the certificate authorities that are trusted in place of the daemon's; "
                + "the trust policies hold all the same. Operators, and the file's owner.",
            record: "The PEM file of the certificate authorities that are trusted in place of the daemon's.",
            change: .stopped(
                "A PEM file of the authorities that are trusted; null is the daemon's; only while not running.",
                isNullable: true), access: .ownFiles,
            limits: [.length(1...TaskLimits.pathLength), .printable, .absolutePath], example: "/etc/lab/ca.pem"),
        ChoiceField(
            "resolve", \.resolve,
            task: "Addresses to use in place of what the resolver says: HOST:PORT:ADDRESS[,ADDRESS]; * is any host.",
            record: "Addresses it uses in place of what the resolver says.",
            profile: "Addresses to use in place of what the resolver says: HOST:PORT:ADDRESS[,ADDRESS].",
            change: .stopped("Addresses to use in place of what the resolver says; only while not running."),
            access: .operators, limits: [.count(0...64)], example: ["example.org:443:192.0.2.7"]),
        ChoiceField(
            "connect_to", \.connectTo,
            task:
                "What to connect to in place of a host and port, HOST:PORT:TARGET:TARGETPORT, each of which may be empty; "
                + "the URL's name stays the one that TLS and pins are about.",
            record: "What it connects to in place of hosts and ports.",
            profile: "What to connect to in place of a host and port: HOST:PORT:TARGET:TARGETPORT.",
            change: .stopped("What to connect to in place of a host and port; only while not running."),
            access: .operators, limits: [.count(0...64)], example: ["example.org:443:node3.example.net:8443"]),
        ChoiceField(
            "unix_socket", \.unixSocket,
            task:
                "Absolute path of the Unix socket through which the URL's host is reached, without a proxy. Other hosts, to "
                + "which redirects lead, are reached as usual.",
            record: "The Unix socket through which the URL's host is reached.",
            change: .stopped(
                "The Unix socket through which the URL's host is reached; null is none; only while not running.",
                isNullable: true), access: .operators,
            limits: [.length(1...ConnectionRules.longestSocketPath), .printable, .absolutePath],
            example: "/run/docker.sock"),
    ]
}
