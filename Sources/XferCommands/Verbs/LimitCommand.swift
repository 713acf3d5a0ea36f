import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl limit`: shows the limits, or changes them with `queue.set_limits`.
struct LimitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit", abstract: "Show or change the queue's limits, or those of one host.",
        discussion: """
            Limits set here survive restarts and override the configuration until they are set to `default`. \
            The rate of one task is changed with `xferctl update ID --limit-rate RATE`. \
            --host with --connections and --requests-per-minute sets the limits of that host alone, and without them \
            shows these.
            """)

    @Option(count: "Highest number of transfers at once, or `default`.")
    var maxActive: LimitArgument<Int>?

    @Option(count: "Highest number of transfers at once from one host, or `default`.")
    var maxActivePerHost: LimitArgument<Int>?

    @Option(
        help: ArgumentHelp(
            "Order of a host's tasks: fifo, lifo or `default`.", valueName: "order"),
        completion: .list(QueueOrder.allCases.map(\.wireName) + ["default"]),
        transform: LimitArgument<QueueOrder>.argument)
    var order: LimitArgument<QueueOrder>?

    @Option(
        rate: "Bytes per second that all transfers may receive together, such as 2M; 0 is unlimited, or `default`.")
    var recv: RateArgument?

    @Option(
        rate: "Bytes per second that all transfers may send together, such as 512K; 0 is unlimited, or `default`.")
    var send: RateArgument?

    @Option(
        help: ArgumentHelp(
            "Host to show or set limits for; without a port, that of http and of https.", valueName: "host[:port]"))
    var host: String?

    @Option(count: "Highest number of connections to the host, or `default`.")
    var connections: LimitArgument<Int>?

    @Option(count: "Highest number of requests to the host that begin within a minute, evenly spaced, or `default`.")
    var requestsPerMinute: LimitArgument<Int>?

    @OptionGroup var options: ActionOptions

    mutating func validate() throws {
        let isOfQueue = maxActive != nil || maxActivePerHost != nil || order != nil || recv != nil || send != nil
        let isOfHost = connections != nil || requestsPerMinute != nil
        if isOfHost, host == nil {
            throw ValidationError("--connections and --requests-per-minute need --host.")
        }
        if host != nil, isOfQueue {
            let rate =
                recv == nil && send == nil
                ? ""
                : " A group or a profile has a rate: group set NAME --recv RATE and add --group NAME, or profile set "
                    + "NAME --recv RATE and add --profile NAME."
            throw ValidationError("--host allows only --connections and --requests-per-minute.\(rate)")
        }
        if let host, host.isEmpty || host.contains(where: { "/@".contains($0) }) {
            throw ValidationError("--host: expected a host, such as example.org or example.org:8080.")
        }
    }

    func run() throws {
        let daemon = try options.open()
        if let host, connections == nil, requestsPerMinute == nil {
            let key = HostText.key(host)
            let known = try daemon.call(QueueHosts.self).value.hosts
            var unknown = HostRecord()
            unknown.host = key
            let shown = known.first { $0.host == key } ?? unknown
            return options.verb.show(
                .object(["host": shown.wire]),
                QueueText(style: Terminal.standard.style).lines(shown) + HostText.hints(shown, among: known))
        }
        if let host {
            var params = QueueSetHost.Params()
            params.host = host
            params.connections = connections?.patch ?? .unchanged
            params.requestsPerMinute = requestsPerMinute?.patch ?? .unchanged
            return options.show(try daemon.call(QueueSetHost.self, params)) { result, terminal in
                let known = (try? daemon.call(QueueHosts.self))?.value.hosts ?? []
                return QueueText(style: terminal.style).lines(result.host) + HostText.hints(result.host, among: known)
            }
        }
        guard maxActive != nil || maxActivePerHost != nil || order != nil || recv != nil || send != nil else {
            return options.verb.show(try daemon.call(QueueStats.self)) { stats, terminal in
                QueueText(style: terminal.style).lines(stats.limits)
            }
        }
        var params = QueueSetLimits.Params()
        params.maxActive = maxActive?.patch ?? .unchanged
        params.maxActivePerHost = maxActivePerHost?.patch ?? .unchanged
        params.order = order?.patch ?? .unchanged
        params.maxReceiveRate = recv?.patch ?? .unchanged
        params.maxSendRate = send?.patch ?? .unchanged
        options.show(try daemon.call(QueueSetLimits.self, params)) { result, terminal in
            QueueText(style: terminal.style).lines(result.limits)
        }
    }
}

/// Bytes per second, `off` as in the timetable, or `default` for the rate of the configuration and its timetable.
struct RateArgument: ExplainedArgument {
    static var expected: String { "bytes per second such as 500K, 1.5M or 2Mi, 0 or off for no limit, or default" }

    let patch: Patch<Int64>

    init?(argument: String) {
        guard argument != "default" else {
            patch = .clear
            return
        }
        guard let rate = ["off", "unlimited"].contains(argument) ? 0 : ByteAmount(parsing: argument)?.bytes,
            (0...BandwidthLimits.highest).contains(rate)
        else { return nil }
        patch = .set(rate)
    }
}

/// A value, or `default` for the configuration's.
struct LimitArgument<Value: WireValue>: ExplainedArgument {
    static var expected: String { Value.self == QueueOrder.self ? "fifo, lifo or default" : "an integer, or default" }

    let patch: Patch<Value>

    init?(argument: String) {
        guard argument != "default" else {
            patch = .clear
            return
        }
        guard let value = try? Value(strict: Int64(argument, radix: 10).map { .integer($0) } ?? .string(argument))
        else {
            return nil
        }
        patch = .set(value)
    }
}

extension Option where Value == LimitArgument<Int>? {
    /// An option for a number that may be limited.
    init(count help: String) {
        self.init(help: ArgumentHelp(help, valueName: "count"), transform: LimitArgument<Int>.argument)
    }
}

extension Option where Value == RateArgument? {
    /// An option for a rate that may be limited.
    init(rate help: String) {
        self.init(help: ArgumentHelp(help, valueName: "rate"), transform: RateArgument.argument)
    }
}
