import Logging
import XferManager
import XferModel

/// One key of the configuration: its name, its property, its accepted values and its purpose.
///
/// `SettingKey.all` is the only list of keys: parsing, environment names, `--print-config`, reloading and the
/// documentation are derived from it.
public struct SettingKey: Sendable {
    /// Dotted, as in `queue.max_active`.
    public let path: String
    /// The purpose of the setting: one sentence without its full stop.
    public let summary: String
    /// The accepted values, to follow the word "expected".
    public let expected: String
    /// The members of the mappings that its value is made of.
    public let fields: [(name: String, documentation: String)]
    /// True if a reload applies a change; otherwise a restart is needed.
    public let appliesOnReload: Bool
    let isScalar: Bool
    let assign: @Sendable (ConfigurationNode, SettingContext, inout Settings) throws(SettingMismatch) -> Void
    let write: @Sendable (Settings) -> String
    let isEqual: @Sendable (Settings, Settings) -> Bool
    let copy: @Sendable (_ source: Settings, _ target: inout Settings) -> Void

    init<Value: Hashable & Sendable>(
        _ path: String, _ property: WritableKeyPath<Settings, Value> & Sendable, _ form: SettingForm<Value>,
        reload: Bool, _ summary: String
    ) {
        self.path = path
        self.summary = summary
        expected = form.expected
        fields = form.fields
        appliesOnReload = reload
        isScalar = form.isScalar
        assign = { node, context, settings throws(SettingMismatch) in
            settings[keyPath: property] = try form.read(node, context)
        }
        write = { form.write($0[keyPath: property]) }
        isEqual = { $0[keyPath: property] == $1[keyPath: property] }
        copy = { $1[keyPath: property] = $0[keyPath: property] }
    }

    /// The part before the dot; for a section that is a single value, the whole path.
    public var section: String { String(path.prefix { $0 != "." }) }
    /// The part after the dot; empty for a section that is one value.
    public var name: String { String(path.drop { $0 != "." }.dropFirst()) }
    /// `XFERD_QUEUE_MAX_ACTIVE` for `queue.max_active`.
    public var environmentName: String {
        "XFERD_" + path.uppercased().map { $0 == "." ? "_" : String($0) }.joined()
    }
}

extension SettingKey {
    /// Every key, in the order in which they are printed.
    public static let all: [SettingKey] =
        queue + bandwidth + download + sharing + cache + trust + profiles + hooks + webhooks + network + engine
        + upload + results + past + rpc + listen + access + redaction + log + client + fleet

    private static let queue: [SettingKey] = [
        SettingKey(
            "queue.max_active", \.service.maxActive, .automatic(or: GroupLimits.activeRange), reload: true,
            "Transfers that run at the same time; auto is 100 small and 6 large ones"),
        SettingKey(
            "queue.max_active_per_host", \.service.maxActivePerHost, .automatic(or: GroupLimits.activeRange),
            reload: true, "Transfers from one host that run at the same time; auto measures each host"),
        SettingKey(
            "queue.order", \.service.order, .word(), reload: true,
            "Order of a host's tasks within a priority: oldest first (fifo) or newest first (lifo)"),
        SettingKey(
            "queue.retry_for", \.service.retryFor, .duration(.zero ... .years(10)), reload: true,
            "How long a failing transfer is retried after its last progress"),
        SettingKey(
            "queue.polite", \.service.isPolite, .flag, reload: true,
            "Open at most 6 connections to a host over HTTP/1.1 where max_active_per_host is auto; else up to 16"),
    ]

    private static let bandwidth: [SettingKey] = [
        SettingKey(
            "bandwidth.recv", \.service.bandwidth.receive, .size(0...BandwidthLimits.highest), reload: true,
            "Bytes per second that all transfers may receive together; 0 is unlimited"),
        SettingKey(
            "bandwidth.send", \.service.bandwidth.send, .size(0...BandwidthLimits.highest), reload: true,
            "Bytes per second that all transfers may send together; 0 is unlimited"),
        SettingKey(
            "bandwidth.timetable", \.service.timetable, .timetable, reload: true,
            "Rate limits by the time of day and the day of the week, in place of recv and send; each applies until the "
                + "time of the next one"),
    ]

    private static let download: [SettingKey] = [
        SettingKey(
            "download.dir", \.service.downloadDirectory, .path, reload: true,
            "Directory for files of tasks that set none"),
        SettingKey(
            "download.incomplete_dir", \.service.incompleteDirectory, .optionalPath, reload: true,
            "Directory in which downloads of root and the daemon's user lie until whole; empty: their destinations"),
        SettingKey(
            "download.roots", \.service.roots, .paths, reload: true,
            "Directories beneath which files may be written and read; while unset, your own daemon writes wherever you may"
        ),
        SettingKey(
            "download.allow_hidden", \.service.allowsHidden, .flag, reload: true,
            "Allow local callers to write to hidden names directly beneath a home directory, such as ~/.ssh"),
        SettingKey(
            "download.reserve", \.service.reserve, .size(0...(1 << 50)), reload: true,
            "Bytes left free on every file system"),
        SettingKey(
            "download.checkpoint_bytes", \.service.checkpointBytes, .size((1 << 16)...(1 << 30)), reload: false,
            "Bytes a crash may cost a transfer: the data is synced at least this often"),
        SettingKey(
            "download.checkpoint_interval", \.service.checkpointInterval,
            .duration(.milliseconds(100) ... .seconds(3600)), reload: false,
            "Longest time between two syncs of received data"),
        SettingKey(
            "download.segments", \.service.segments, .segments, reload: false,
            "Parts of a download that are fetched at the same time, unless the task sets its own number; auto measures"),
        SettingKey(
            "download.min_recv_rate", \.service.minReceiveRate, .size(0...(1 << 50)), reload: false,
            "Minimum bytes per second of a connection, unless the task sets its own; 0 turns this off"
        ),
        SettingKey(
            "download.min_recv_time", \.service.minReceiveTime, .duration(.seconds(1) ... .seconds(86_400)),
            reload: false, "Time over which download.min_recv_rate is measured"),
    ]

    private static let sharing: [SettingKey] = [
        SettingKey(
            "sharing.negative_ttl", \.service.negativeTTL, .duration(.zero ... .years(1)), reload: true,
            "How long a permanently failed URL is refused without a request; 0 turns this off"),
        SettingKey(
            "sharing.between_owners", \.service.sharesBetweenOwners, .flag, reload: true,
            "Let one user's transfer, or its permanent failure, serve equal requests of other users"),
    ]

    private static let cache: [SettingKey] = [
        SettingKey(
            "cache.max_bytes", \.service.cacheMaxBytes, .size(0...(1 << 50)), reload: true,
            "Largest size of the cache in bytes; above it the least recently used responses are deleted until half is free"
        ),
        SettingKey(
            "cache.max_age", \.service.cacheMaxAge, .duration(.zero ... .years(10)), reload: true,
            "How long a response is cached after its last use"),
    ]

    private static let trust: [SettingKey] = [
        SettingKey(
            "trust.ca_file", \.service.authoritiesFile, .somePath, reload: false,
            "PEM file of the certificate authorities that are trusted"),
        SettingKey(
            "trust.hsts", \.service.strictTransport, .word(), reload: true,
            "http URLs of hosts that have demanded https (HSTS): request them over https (upgrade), refuse them (deny), "
                + "or remember no host (off)"),
        SettingKey(
            "trust.policies", \.policies, .policies, reload: true,
            "Trust policies: which server certificates are accepted"),
    ]

    private static let network: [SettingKey] = [
        SettingKey(
            "network.monitor", \.service.monitorsNetwork, .flag, reload: true,
            "Watch links, addresses and routes. If off, the network is assumed to be up"),
        SettingKey(
            "network.metered_interfaces", \.service.meteredInterfaces, .interfaces, reload: true,
            "Interfaces that cost money, * and ? being wildcards; see allow_metered"),
        SettingKey(
            "network.deny_hosts", \.service.admission.deniedHosts, .hosts, reload: true,
            "Hosts that xferd never contacts"),
        SettingKey(
            "network.deny_addresses", \.service.admission.deniedAddresses, .addressBlocks, reload: true,
            "Addresses to which xferd never connects"),
        SettingKey(
            "network.nat64_prefixes", \.service.admission.translationPrefixes, .translationPrefixes, reload: true,
            "Prefixes by which the network translates IPv6 to IPv4, in addition to 64:ff9b::/96 and 64:ff9b:1::/48, for deny_addresses"
        ),
        SettingKey(
            "network.allow_hosts", \.service.admission.allowedHosts, .hosts, reload: true,
            "The only hosts that xferd contacts, if any are listed; deny_hosts and deny_addresses still apply"),
        SettingKey(
            "network.proxy_from_environment", \.service.usesEnvironmentProxies, .flag, reload: true,
            "Use the environment's proxies (http_proxy, HTTPS_PROXY, ALL_PROXY, NO_PROXY) for tasks that set no proxy"
        ),
    ]

    private static let profiles: [SettingKey] = [
        SettingKey(
            "profiles", \.service.profiles, .profiles, reload: true,
            "Named defaults for the requests of new tasks; a change does not affect existing tasks")
    ]

    private static let hooks: [SettingKey] = [
        SettingKey(
            "hooks", \.service.hooks, .hooks, reload: true,
            "Commands that tasks can refer to in post_process, on_complete and on_error")
    ]

    private static let webhooks: [SettingKey] = [
        SettingKey(
            "webhooks", \.webhooks, .webhooks, reload: true,
            "Receivers of events; tasks can also refer to them in on_end")
    ]

    private static let engine: [SettingKey] = [
        SettingKey(
            "engine.loops", \.service.engineLoops, .integer(1...8), reload: false,
            "Threads that transfer bytes; more than one helps only where TLS keeps a processor busy")
    ]

    private static let upload: [SettingKey] = [
        SettingKey(
            "upload.chunk_size", \.service.uploadChunkSize, .size(0...(1 << 50)), reload: true,
            "Largest request of a tus upload in bytes, unless the task sets its own, for proxies that limit request sizes; 0 is unlimited"
        )
    ]

    private static let results: [SettingKey] = [
        SettingKey(
            "results.max_bytes", \.service.largestResult, .size(0...(1 << 50)), reload: true,
            "Largest response that is stored for task.result, in bytes; a data task or upload with a larger one fails"),
        SettingKey(
            "results.max_ratio", \.service.largestResultRatio, .integer(1...1_000_000), reload: true,
            "Largest expansion of a compressed response: decoded bytes per received byte, for responses of more than 1 MiB"
        ),
    ]

    private static let past: [SettingKey] = [
        SettingKey(
            "events.max_count", \.service.retention.maxEvents, .integer(1000...100_000_000), reload: true,
            "Events stored for clients that reconnect; events younger than a day are never deleted"),
        SettingKey(
            "events.max_age", \.service.retention.maxEventAge, .duration(.seconds(86_400) ... .years(100)),
            reload: true,
            "How long events are stored"),
        SettingKey(
            "history.max_count", \.service.retention.maxHistory, .integer(0...100_000_000), reload: true,
            "Finished tasks kept in the list"),
        SettingKey(
            "history.max_age", \.service.retention.maxHistoryAge, .duration(.zero ... .years(100)), reload: true,
            "How long finished tasks are kept in the list"),
    ]

    private static let rpc: [SettingKey] = [
        SettingKey(
            "rpc.max_line", \.rpc.maxLine, .size(4096...(1 << 28)), reload: false,
            "Bytes of one message, in both directions"),
        SettingKey(
            "rpc.max_clients", \.service.maxClients, .integer(1...65_536), reload: false,
            "Clients connected at a time"),
        SettingKey(
            "rpc.max_clients_per_user", \.rpc.maxClientsPerUser, .integer(1...65_536), reload: false,
            "Connections of one user who is not an operator"),
        SettingKey(
            "rpc.reserved_clients", \.rpc.reservedClients, .integer(0...65_536), reload: false,
            "Connections kept free for operators; at most half of rpc.max_clients"),
        SettingKey(
            "rpc.request_timeout", \.rpc.requestTimeout, .duration(.seconds(1) ... .seconds(3600)), reload: false,
            "Longest time from the first byte of a request to its last"),
        SettingKey(
            "rpc.max_waiting", \.rpc.maxWaiting, .size(65_536...(1 << 30)), reload: false,
            "Bytes of events kept in memory for a client that reads slowly; further events come from the database"
        ),
        SettingKey(
            "rpc.max_waiting_per_user", \.rpc.maxWaitingPerUser, .size(65_536...(1 << 34)), reload: false,
            "Bytes of events, and of answers, that may be queued for all clients of a user"),
        SettingKey(
            "rpc.max_in_flight", \.rpc.maxInFlight, .integer(1...65_536), reload: false,
            "Requests of one client that run at the same time, and of all clients of a user who is not an operator"),
    ]

    private static let listen: [SettingKey] = [
        SettingKey(
            "listen", \.listen, .listeners, reload: false,
            "Network addresses for clients with tokens; without it clients can only use the Unix socket"),
        SettingKey(
            "gateway.max_clients", \.gateway.maxClients, .integer(1...65_536), reload: false,
            "Clients connected over the network at a time"),
        SettingKey(
            "gateway.aria2", \.gateway.aria2, .word(), reload: false,
            "Downloads of their user that front-ends for aria2 see: only those that they added, or all"),
    ]

    private static let access: [SettingKey] = [
        SettingKey(
            "access.users", \.access.users, .grants, reload: true,
            "Users who may connect, besides the daemon's own user and root"),
        SettingKey(
            "access.groups", \.access.groups, .grants, reload: true,
            "Groups whose members may connect"),
        SettingKey(
            "access.max_stored", \.service.maxStoredPerUser, .size(1 << 20...(1 << 50)), reload: true,
            "Bytes of contents, copies of files to send, responses and long options that may be stored for the tasks of one user who is not an operator"
        ),
        SettingKey(
            "access.max_undelivered", \.service.maxUndeliveredPerUser, .size(1 << 16...(1 << 50)), reload: true,
            "Bytes of events that may wait for webhooks, of one user who is not an operator; further ones are discarded"
        ),
    ]

    private static let redaction: [SettingKey] = [
        SettingKey(
            "redaction.names", \.redaction.names, .namePatterns, reload: false,
            "Further names of header fields and URL parameters whose values are masked like passwords")
    ]

    private static let log: [SettingKey] = [
        SettingKey(
            "log.level", \.log.level, .word(Logger.Level.allCases.map { ($0.rawValue, $0) }), reload: true,
            "Lowest level of the messages that are logged"),
        SettingKey(
            "log.format", \.log.format, .word(), reload: false,
            "Format of log messages; auto is journal under systemd and text elsewhere"),
    ]

    private static let client: [SettingKey] = [
        SettingKey(
            "client.start", \.client.start, .word(), reload: true,
            "Start a daemon of the user in the background when xferctl add finds none running")
    ]

    /// The keys that only `xfer-fleet` uses.
    private static let fleet: [SettingKey] = [
        SettingKey(
            "fleet.database", \.fleet.database, .databaseAddress, reload: false,
            "PostgreSQL database of the fleet; empty: no fleet. All settings under fleet are for xfer-fleet"),
        SettingKey(
            "fleet.password_file", \.fleet.passwordFile, .optionalPath, reload: false,
            "File with the database's password; empty: the credential fleet-password of the unit, if there is one"),
        SettingKey(
            "fleet.node", \.fleet.node, .nodeName, reload: false,
            "Name of the node in the fleet; empty: the machine's name"),
        SettingKey(
            "fleet.labels", \.fleet.labels, .labels, reload: false,
            "Labels of the node: it also claims tasks with the place label:NAME"),
        SettingKey(
            "fleet.storages", \.fleet.storages, .storages, reload: false,
            "Mount points of shared storages on this node, by name: it also claims tasks with the place storage:NAME. Each has "
                + "a file .xfer-storage that contains its name"),
        SettingKey(
            "fleet.slots", \.fleet.slots, .integer(1...10_000), reload: false,
            "Tasks of the fleet that the node claims at a time"),
        SettingKey(
            "fleet.socket", \.fleet.socket, .path, reload: false,
            "Unix socket on which xfer-fleet answers"),
        SettingKey(
            "fleet.listen", \.fleet.listen, .listeners, reload: false,
            "Network addresses on which xfer-fleet serves the fleet's clients; the form is that of listen"),
        SettingKey(
            "fleet.daemon", \.fleet.daemon, .path, reload: false,
            "Unix socket of the xferd that runs the node's tasks"),
    ]
}

extension Duration {
    /// Years of 365 days.
    fileprivate static func years(_ count: Int) -> Duration { .seconds(count * 31_536_000) }
}
