import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl profile set`: `profile.set`.
struct ProfileSetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Write a profile, replacing the one of that name.",
        discussion: """
            The whole profile is replaced: options that are not given are unset. Passwords and tokens are prompted \
            for, read from a file here, or given as a place that the daemon reads at every attempt (--password-from, \
            --bearer-from).

              xferctl profile set api --base-url https://api.example.org/v1 --bearer-from file:/etc/xferd/token
            """)

    @Argument(help: "The profile's name.", completion: .daemon(.profiles))
    var name: String

    @Option(
        name: .customLong("base-url"),
        help: ArgumentHelp("Base of tasks' relative URLs.", valueName: "url"))
    var baseURL: String?

    @Option(
        name: .customLong("language"),
        help: ArgumentHelp(
            "A language for Accept-Language, the preferred one first; may be repeated.", valueName: "tag"))
    var languages: [String] = []

    @Option(
        help: ArgumentHelp(
            "Highest number of transfers of its tasks at once.", valueName: "count"), transform: Int.integer)
    var maxActive: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Open at most 6 connections to each host of its tasks over HTTP/1.1; with --no-polite up to 16.")
    var polite: Bool?

    @Option(
        help: ArgumentHelp(
            "Bytes per second that its tasks may receive together, such as 2M; 0 is unlimited.", valueName: "rate"),
        transform: ByteAmount.argument)
    var recv: ByteAmount?

    @Option(
        help: ArgumentHelp(
            "Bytes per second that its tasks may send together, such as 512K; 0 is unlimited.", valueName: "rate"),
        transform: ByteAmount.argument)
    var send: ByteAmount?

    @Option(
        name: .customLong("header-rules"),
        help: ArgumentHelp(
            "Changes to header fields by host, JSON: [{\"hosts\": [\"example.org\"], \"set\": {...}, \"remove\": [...]}].",
            valueName: "json"),
        transform: JSONValue.argument)
    var headerRules: JSONValue?

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Access") var access: AccessOptions

    @Option(
        help: ArgumentHelp(
            "Run this hook when a server refuses the credential (401), once for all tasks; it renews the secret's file.",
            valueName: "hook"))
    var credentialHook: String?

    @Flag(inversion: .prefixedNo, help: "Send and keep the cookies that servers set.")
    var cookies: Bool?

    @OptionGroup var options: ActionOptions

    mutating func validate() throws {
        if cache.cacheKey?.rule.text != nil {
            throw ValidationError(
                "--cache-key: expected JSON; a text identifies one response, so it is for single tasks.")
        }
    }

    func run() throws {
        SecretArguments(headers: request.header.arguments).warn()
        let answer = try options.open().call(ProfileSet.self, ProfileSet.Params(profile: try profile()))
        options.show(answer) { result, terminal in ProfileText(style: terminal.style).lines(result.profile) }
    }

    private func profile() throws(CommandFailure) -> ProfileInput {
        guard let paths = PathResolver.current(for: options.connection) else {
            throw .usage("the current directory is gone; change to another one")
        }
        var profile = ProfileInput(name: name)
        profile.baseURL = baseURL
        profile.languages = languages.isEmpty ? nil : languages
        if let headerRules { profile.headerRules = try Self.rules(headerRules) }
        let headers = try request.headerFields()
        if !headers.isEmpty { profile.headers = HeaderList(headers) }
        profile.choices = request.choices
        cache.apply(to: &profile.choices)
        profile.maxActive = maxActive
        profile.isPolite = polite
        profile.maxReceiveRate = recv?.bytes
        profile.maxSendRate = send?.bytes
        profile.cacheKey = cache.cacheKey.map { CacheKeyRecord($0.rule) }
        profile.access = try access.choices(paths)
        profile.credentialHook = credentialHook
        (profile.access.cookies, profile.cookies) = (.unchanged, cookies.map { $0 ? .jar : .none })
        return profile
    }

    private static func rules(_ json: JSONValue) throws(CommandFailure) -> [HeaderRuleInput] {
        do throws(WireError) {
            return try [HeaderRuleInput](strict: json)
        } catch {
            throw .usage("--header-rules: \(error)")
        }
    }
}
