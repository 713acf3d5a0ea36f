import ArgumentParser
import XferModel

/// The conditions under which a task may run. `add`, `update` and `profile set` have these options.
struct ConditionOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Allow links that cost money (default). If off, the task waits for another link.")
    var metered: Bool?

    func apply(to choices: inout TransferRequest.Choices) {
        choices.allowsMetered = Patch(metered)
    }
}

/// Options for connections. `add`, `update` and `profile set` have these.
struct RouteOptions: ParsableArguments {
    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: "Connect to IPv4 addresses only; operators only.")
    var isIPv4 = false

    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: "Connect to IPv6 addresses only; operators only.")
    var isIPv6 = false

    @Option(
        help: ArgumentHelp(
            "Connect from this network interface or address; operators only.", valueName: "name or address"),
        transform: LocalInterface.argument)
    var interface: LocalInterface?

    @Option(
        help: ArgumentHelp(
            "Use these addresses in place of what the resolver says; operators only; may be repeated.",
            valueName: "host:port:address"), transform: ResolveRule.argument)
    var resolve: [ResolveRule] = []

    @Option(
        help: ArgumentHelp(
            "Connect to this in place of a host and port; operators only; may be repeated.",
            valueName: "host:port:target:port"), transform: ConnectToRule.argument)
    var connectTo: [ConnectToRule] = []

    mutating func validate() throws {
        if isIPv4, isIPv6 { throw ValidationError("-4 and -6 exclude each other.") }
    }

    func apply(to choices: inout TransferRequest.Choices) {
        choices.ipVersion = isIPv4 ? .set(.ipv4) : isIPv6 ? .set(.ipv6) : .unchanged
        choices.interface = Patch(interface)
        choices.resolve = resolve.isEmpty ? .unchanged : .set(resolve)
        choices.connectTo = connectTo.isEmpty ? .unchanged : .set(connectTo)
    }
}

/// The Unix socket of a task. Profiles have none.
struct SocketOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Reach the URL's host through this Unix socket; operators only.", valueName: "path"),
        completion: .file())
    var unixSocket: String?
}

/// The servers that a task trusts. `add` and `update` have these; profiles have none.
struct TrustOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A trust policy that has to accept the server, too, in addition to the host's.", valueName: "name"),
        completion: .daemon(.policies))
    var policy: String?

    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp(
            "Trust the certificate authorities in this PEM file in place of the daemon's.", valueName: "file"),
        completion: .file())
    var authoritiesFile: String?
}

/// Conditions under which an answer is accepted. `add`, `update` and `profile set` have these.
struct AnswerOptions: ParsableArguments {
    @Flag(
        name: .customLong("reject-html"), inversion: .prefixedNo,
        help: "Fail if the server answers with a web page.")
    var rejectsPages: Bool?

    @Option(
        help: ArgumentHelp(
            "Treatment of digests that the server announces (default: verify).", valueName: "verify or ignore"))
    var announcedDigests: EnumArgument<AnnouncedDigests>?

    func apply(to choices: inout TransferRequest.Choices) {
        choices.rejectsPages = Patch(rejectsPages)
        choices.announcedDigests = Patch(announcedDigests?.word)
    }
}

/// Limits on the duration of one attempt. `add`, `update` and `profile set` have these.
struct TimeoutOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Longest time to connect, such as 30s; 0 is unlimited.", valueName: "time"),
        transform: TimeSpan.argument)
    var connectTimeout: TimeSpan?

    @Option(
        help: ArgumentHelp("Longest time without a byte; 0 is unlimited.", valueName: "time"),
        transform: TimeSpan.argument)
    var idleTimeout: TimeSpan?

    @Option(
        help: ArgumentHelp("Longest time for one attempt; 0 is unlimited.", valueName: "time"),
        transform: TimeSpan.argument)
    var totalTimeout: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Lowest receive rate, such as 1K; a slower connection ends the attempt; 0 is no limit.",
            valueName: "rate"),
        transform: ByteAmount.argument)
    var minRate: ByteAmount?

    @Option(
        help: ArgumentHelp("Time over which --min-rate is measured, such as 30s.", valueName: "time"),
        transform: TimeSpan.argument)
    var minRateTime: TimeSpan?

    func apply(to choices: inout TransferRequest.Choices) {
        choices.connectTimeout = Patch(connectTimeout?.seconds)
        choices.idleTimeout = Patch(idleTimeout?.seconds)
        choices.totalTimeout = Patch(totalTimeout?.seconds)
        choices.minReceiveRate = Patch(minRate?.bytes)
        choices.minReceiveTime = Patch(minRateTime?.seconds)
    }
}
