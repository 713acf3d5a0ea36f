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
            record: "Treatment of redirects: follow or deny.", profile: "Treatment of redirects: follow or deny."),
        ChoiceField(
            "path_as_is", \.keepsPath,
            task:
                "True if . and .. in its URLs' paths are sent unchanged; default false: they are resolved. Redirects "
                + "are always resolved.",
            record: "True if . and .. in the paths of its URLs are sent unchanged."),
        ChoiceField(
            "max_redirects", \.maxRedirects, task: "Highest number of successive redirects; default 20.",
            record:
                "Highest number of successive redirects; absent is 20.",
            profile: "Highest number of successive redirects.",
            limits: [.range(0...1000)]),
        ChoiceField(
            "allow_downgrade", \.allowsDowngrade,
            task: "True to allow redirects from https to http; default false.",
            record: "True if redirects from https to http are allowed.",
            profile: "True if redirects from https to http are allowed."),
        ChoiceField(
            "http_version", \.httpVersion, task: "The protocol to use; default auto.", record: "The protocol to use.",
            profile: "The protocol to use."),
        ChoiceField(
            "connect_timeout", \.connectTimeout,
            task: "Seconds for name resolution, TCP and TLS; 0 is unlimited; default 30.",
            record: "Seconds for name resolution, TCP and TLS; 0 is unlimited.",
            profile: "Seconds for name resolution, TCP and TLS; 0 is unlimited.",
            change: .stopped("Seconds to connect; 0 is unlimited; only while the task is not running."),
            limits: [.timeout]),
        ChoiceField(
            "idle_timeout", \.idleTimeout,
            task: "Seconds without a byte after which an attempt ends; 0 is never; default 15 for data, 60 for files.",
            record: "Seconds without a byte after which an attempt ends; 0 is never.",
            profile: "Seconds without a byte after which an attempt ends; 0 is never.",
            change: .stopped("Seconds without a byte; 0 is never; only while the task is not running."),
            limits: [.timeout]),
        ChoiceField(
            "total_timeout", \.totalTimeout, task: "Seconds that one attempt may take; 0, the default, is unlimited.",
            record: "Seconds that one attempt may take; 0 is unlimited.",
            profile: "Seconds that one attempt may take; 0 is unlimited.",
            change: .stopped("Seconds of an attempt; 0 is unlimited; only while the task is not running."),
            limits: [.timeout]),
        ChoiceField(
            "min_recv_rate", \.minReceiveRate,
            task: "Minimum bytes per second of each connection, measured over min_recv_time; a slower one "
                + "ends the attempt; 0 turns this off; default download.min_recv_rate.",
            record: "Minimum bytes per second of each connection; absent is download.min_recv_rate.",
            profile: "Minimum bytes per second of each connection; 0 turns this off.",
            change: .stopped(
                "Minimum bytes per second of each connection; null is download.min_recv_rate; only while the task is "
                    + "not running.", isNullable: true), limits: [.range(0...TaskLimits.highestRate)]),
        ChoiceField(
            "min_recv_time", \.minReceiveTime,
            task: "Seconds over which min_recv_rate is measured; pauses of the service do not count; default "
                + "download.min_recv_time.",
            record: "Seconds over which min_recv_rate is measured; absent is download.min_recv_time.",
            profile: "Seconds over which min_recv_rate is measured.",
            change: .stopped(
                "Seconds over which min_recv_rate is measured; null is download.min_recv_time; only while the task is not running.",
                isNullable: true), limits: [.number(1...86_400)]),
        ChoiceField(
            "accept_status", \.acceptedStatus,
            task: "Status codes of success: ranges and codes, separated by commas; default 200-299.",
            record: "Status codes of success.", profile: "Status codes of success.",
            example: "200-299,404"),
        ChoiceField(
            "accept_types", \.acceptedTypes,
            task:
                "Accepted media types or ranges (image/*), or the presets json, xml, plist, image; default "
                + "all.",
            record: "Accepted media types and ranges; absent accepts all.",
            profile: "Accepted media types or ranges (image/*), or the presets json, xml, plist, image.",
            limits: [.count(0...64)],
            example: ["json"]),
        ChoiceField(
            "reject_html", \.rejectsPages,
            task: "True to treat an answer with a web page (text/html) as a failure; default false.",
            record: "True if an answer with a web page is a failure.",
            profile: "True if an answer with a web page (text/html) is a failure.",
            change: .stopped(
                "True to treat an answer with a web page as a failure; only while the task is not running.")),
        ChoiceField(
            "announced_digests", \.announcedDigests,
            task: "Treatment of digests that the server announces: verify or ignore; default verify.",
            record: "Treatment of digests that the server announces; absent is verify.",
            profile: "Treatment of digests that the server announces: verify or ignore.",
            change: .stopped(
                "Treatment of digests that the server announces (ignore: wrong digests are accepted); only while not "
                    + "running.")),
    ]

    static let caching: [ChoiceField<TransferRequest.Choices>] = [
        ChoiceField(
            "cache_policy", \.cachePolicy,
            task:
                "Use of a cached response: protocol (RFC 9111), prefer_cache and only_if_cached (even if stale), "
                + "revalidate (used at once, then validated), reload and reload_all (not used); default reload.",
            record: "Use of a cached response; absent is reload.",
            profile: "Use of cached responses; default reload, which never uses one."),
        ChoiceField(
            "store", \.storesResponses, task: "True to cache the response; the default depends on cache_policy.",
            record: "True if the response is cached.",
            profile: "True to cache responses; the default depends on cache_policy."),
    ]

    static let conditions: [ChoiceField<TransferRequest.Choices>] = [
        ChoiceField(
            "allow_metered", \.allowsMetered,
            task: "True if it may use links that cost money (network.metered_interfaces); if false, it waits for "
                + "another link. Default true.",
            record: "True if it may use links that cost money.",
            profile: "True if tasks may use links that cost money.",
            change: .anytime(
                "True if it may use links that cost money; if false, it stops on such a link and waits for another."))
    ]

    /// The fields of connections. A profile's values apply to guests, too, who cannot change them.
    static let connections: [ChoiceField<TransferRequest.Choices>] = [
        ChoiceField(
            "ip_version", \.ipVersion, task: "Addresses to connect to: any, IPv4 or IPv6; default any.",
            record:
                "Addresses to which it connects; absent is any.",
            profile: "Addresses to connect to: any, IPv4 or IPv6.",
            change: .stopped("Addresses to connect to; only while the task is not running."), access: .operators),
        ChoiceField(
            "interface", \.interface, task: "The network interface or local address to connect from.",
            record: "The network interface or local address it connects from.",
            profile: "The network interface or local address to connect from.",
            change: .stopped(
                "The network interface or local address to connect from; null is none; only while the task is not running.",
                isNullable: true), access: .operators, example: "eth1"),
        ChoiceField(
            "ca_file", \.authoritiesFile,
            task:
                "Absolute path of a PEM file: the certificate authorities that are trusted in place of the daemon's; "
                + "the trust policies still apply. For operators, and the file's owner.",
            record: "The PEM file of the certificate authorities that are trusted in place of the daemon's.",
            change: .stopped(
                "A PEM file of the authorities that are trusted; null is the daemon's; only while the task is not running.",
                isNullable: true), access: .ownFiles,
            limits: [.length(1...TaskLimits.pathLength), .printable, .absolutePath], example: "/etc/lab/ca.pem"),
        ChoiceField(
            "resolve", \.resolve,
            task: "Addresses to use in place of the resolver's: HOST:PORT:ADDRESS[,ADDRESS]; * is any host.",
            record: "Addresses that it uses in place of the resolver's.",
            profile: "Addresses to use in place of the resolver's: HOST:PORT:ADDRESS[,ADDRESS].",
            change: .stopped("Addresses to use in place of the resolver's; only while the task is not running."),
            access: .operators, limits: [.count(0...64)], example: ["example.org:443:192.0.2.7"]),
        ChoiceField(
            "connect_to", \.connectTo,
            task:
                "Targets to connect to in place of hosts and ports: HOST:PORT:TARGET:TARGETPORT, each part may be empty; "
                + "TLS and pins still check the URL's name.",
            record: "Targets to which it connects in place of hosts and ports.",
            profile: "Targets to connect to in place of hosts and ports: HOST:PORT:TARGET:TARGETPORT.",
            change: .stopped("Targets to connect to in place of hosts and ports; only while the task is not running."),
            access: .operators, limits: [.count(0...64)], example: ["example.org:443:node3.example.net:8443"]),
        ChoiceField(
            "unix_socket", \.unixSocket,
            task:
                "Absolute path of the Unix socket through which the URL's host is reached, without a proxy. Other hosts, to "
                + "which redirects lead, are reached as usual.",
            record: "The Unix socket through which the URL's host is reached.",
            change: .stopped(
                "The Unix socket through which the URL's host is reached; null is none; only while the task is not running.",
                isNullable: true), access: .operators,
            limits: [.length(1...ConnectionRules.longestSocketPath), .printable, .absolutePath],
            example: "/run/docker.sock"),
    ]
}
