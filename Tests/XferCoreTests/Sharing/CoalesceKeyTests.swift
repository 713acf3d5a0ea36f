import Foundation
import Testing
import XferCore
import XferModel
import XferTestSupport

/// What may share a transfer, and what never may.
@Suite struct CoalesceKeyTests {
    /// The digest's input itself: two are equal only when all that went in is.
    static let transparent: KeyedDigest = { $0 }

    static func key(_ specification: TaskSpecification, shared: Bool = false) -> CoalesceKey? {
        CoalesceKey(specification, isSharedBetweenOwners: shared, digest: transparent)
    }

    static func specification(_ change: (inout TaskSpecification) -> Void = { _ in }) -> TaskSpecification {
        let url = HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/f?a=b")
        var specification = TaskSpecification(
            owner: Owner(uid: 1000), request: TransferRequest(url: url), destination: Destination(directory: "/d"))
        change(&specification)
        return specification
    }

    /// A change with a name for the failing test's message.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (inout TaskSpecification) -> Void

        init(_ name: String, _ apply: @escaping @Sendable (inout TaskSpecification) -> Void) {
            testDescription = name
            self.apply = apply
        }
    }

    static let ownMatters: [Change] = [
        Change("directory") { $0.destination.directory = "/elsewhere" },
        Change("name") { $0.destination.name = "x" },
        Change("path as it is") { $0.request.keepsPath = true },
        Change("conflict") { $0.destination.onConflict = .overwrite },
        Change("mode") { $0.destination.mode = FileMode(bits: 0o600) },
        Change("checksum") { $0.checksum = Checksum(algorithm: .md5, bytes: [UInt8](repeating: 1, count: 16)) },
        Change("kind") { $0.kind = .data },
        Change("accepted types") { $0.request.acceptedTypes = ["image/png"] },
        Change("parse") { $0.response.parsers = [.json] },
        Change("retry") { $0.retry = RetryLimits(maxRetries: 0, retryFor: 1) },
        Change("caching") {
            $0.request.caching = CachingOptions(policy: .protocol, stores: true, key: CacheKeyRule(ignoresQuery: true))
        },
        Change("leastRate") { $0.request.leastRate = LeastRate(rate: 5, time: 6) },
        Change("timeouts") { $0.request.timeouts = Timeouts(connect: 1, idle: 2, total: 3) },
        Change("HTTP version") { $0.request.httpVersion = .http1 },
        Change("rates") { ($0.maxReceiveRate, $0.maxSendRate) = (1, 2) },
        Change("priority") { $0.priority = .low },
        Change("group") { $0.group = "g" },
        Change("label") { $0.label = "l" },
        Change("slot") { $0.slot = "s" },
        Change("schedule") { $0.schedule.after = [TaskID(3)] },
        Change("client key") { $0.clientKey = "k" },
        Change("meta") { $0.meta = "{}" },
        Change("paused") { $0.startsPaused = true },
        Change("progress interval") { $0.progressInterval = 9 },
        Change("metered links") { $0.request.allowsMetered = false },
        Change("segments") { $0.segments = SegmentCount(3) },
    ]

    static let commonMatters: [Change] = [
        Change("scheme") { $0.request.url = HTTPURL(scheme: .http, host: "example.org", port: 443, target: "/f?a=b") },
        Change("host") { $0.request.url = HTTPURL(scheme: .https, host: "example.com", port: 443, target: "/f?a=b") },
        Change("port") { $0.request.url = HTTPURL(scheme: .https, host: "example.org", port: 8443, target: "/f?a=b") },
        Change("path") { $0.request.url = HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/F?a=b") },
        Change("query") { $0.request.url = HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/f?a=c") },
        Change("mirror") { $0.mirrors = [HTTPURL(scheme: .https, host: "a", port: 443, target: "/f")] },
        Change("another mirror") { $0.mirrors = [HTTPURL(scheme: .https, host: "b", port: 443, target: "/f")] },
        Change("mirrors") {
            $0.mirrors = ["a", "b"].map { HTTPURL(scheme: .https, host: $0, port: 443, target: "/f") }
        },
        Change("mirrors the other way") {
            $0.mirrors = ["b", "a"].map { HTTPURL(scheme: .https, host: $0, port: 443, target: "/f") }
        },
        Change("announced digests") { $0.request.announcedDigests = .ignore },
        Change("range") { $0.request.range = SourceRange("0-9") },
        Change("another range") { $0.request.range = SourceRange("0-") },
        Change("greatest size") { $0.request.maxSize = 9 },
        Change("IP version") { $0.request.connections.ipVersion = .ipv6 },
        Change("interface") { $0.request.connections.interface = LocalInterface("lo") },
        Change("resolve") { $0.request.connections.resolve = ["a:1:192.0.2.1"].compactMap { ResolveRule($0) } },
        Change("Unix socket") { $0.request.connections.unixSocket = "/s" },
        Change("connect to") { $0.request.connections.connectTo = ["a:1:b:2"].compactMap { ConnectToRule($0) } },
        Change("own cookies") { $0.request.cookies = [RequestCookie(domain: "example.org", name: "a", value: "b")] },
        Change("own cookie's value") {
            $0.request.cookies = [RequestCookie(domain: "example.org", name: "a", value: "c")]
        },
        Change("method") { $0.request.method = .head },
        Change("header") { $0.request.headers = [HeaderField(name: "Accept", value: "a")] },
        Change("header's value") { $0.request.headers = [HeaderField(name: "Accept", value: "b")] },
        Change("two headers") {
            $0.request.headers = [HeaderField(name: "Accept", value: "a"), HeaderField(name: "Accept", value: "b")]
        },
        Change("two headers the other way") {
            $0.request.headers = [HeaderField(name: "Accept", value: "b"), HeaderField(name: "Accept", value: "a")]
        },
        Change("header rule") { $0.request.headerRules = [HeaderRule(remove: ["Accept"])] },
        Change("header rule that sets") {
            $0.request.headerRules = [HeaderRule(set: [HeaderField(name: "Accept", value: "a")])]
        },
        Change("user") { $0.request.credential = Credential(user: "a", password: "") },
        Change("another user") { $0.request.credential = Credential(user: "b", password: "") },
        Change("password") { $0.request.credential = Credential(user: "a", password: "p") },
        Change("digest") { $0.request.credential = Credential(scheme: .digest, user: "a", secret: .value("p")) },
        Change("file") { $0.request.credential = Credential(user: "a", secret: .file("p")) },
        Change("variable") { $0.request.credential = Credential(user: "a", secret: .environment("p")) },
        Change("systemd credential") { $0.request.credential = Credential(user: "a", secret: .systemdCredential("p")) },
        Change("signature") {
            $0.request.credential = Credential(
                scheme: .awsSigV4(region: "r", service: "s"), user: "a", secret: .value("p"))
        },
        Change("another region") {
            $0.request.credential = Credential(
                scheme: .awsSigV4(region: "q", service: "s"), user: "a", secret: .value("p"))
        },
        Change("origin of a credential") {
            $0.request.credential = Credential(
                user: "a", secret: .value("p"), origins: [Origin(scheme: .https, host: "h", port: 1)])
        },
        Change("profile") { $0.profile = "p" },
        Change("profile's credential") { $0.request.usesProfileCredential = true },
        Change("profile's certificate") { $0.request.usesProfileCertificate = true },
        Change("client certificate") {
            $0.request.clientCertificate = ClientCertificateFiles(certificate: "/c", key: "/k")
        },
        Change("cookies") { $0.request.usesCookies = true },
        Change("no cookies") { $0.request.refusesCookies = true },
        Change("policy") { $0.policy = "p" },
        Change("proxy") { $0.request.proxy = ProxySettings(url: "http://p:1") },
        Change("proxy's credential") {
            $0.request.proxy = ProxySettings(url: "http://p:1", credential: Credential(user: "a", password: "p"))
        },
        Change("proxy's exceptions") { $0.request.proxy = ProxySettings(url: "http://p:1", exceptions: ["a"]) },
        Change("redirects") { $0.request.redirect = .deny },
        Change("downgrade") { $0.request.allowsDowngrade = true },
        Change("accepted status") { $0.request.acceptedStatus = StatusSet(200...404) },
        Change("a set of accepted statuses") { $0.request.acceptedStatus = StatusSet("200-299,404") ?? .success },
        Change("another set") { $0.request.acceptedStatus = StatusSet("200-299,410") ?? .success },
        Change("refused web pages") { $0.request.rejectsPages = true },
        Change("owner") { $0.owner = Owner(uid: 1001) },
    ]

    @Test(arguments: ownMatters) func anOptionOfOneTaskDoesNotChangeTheCoalesceKey(change: Change) {
        #expect(Self.key(Self.specification(change.apply)) == Self.key(Self.specification()))
    }

    @Test func anOptionOfServerOrTrustChangesTheCoalesceKey() {
        var keys: [CoalesceKey?: String] = [Self.key(Self.specification()): "nothing"]
        for change in Self.commonMatters {
            let key = Self.key(Self.specification(change.apply))
            #expect(key != nil)
            #expect(keys[key] == nil, "\(change.testDescription) is as \(keys[key] ?? "")")
            keys[key] = change.testDescription
        }
    }

    @Test(arguments: ownMatters + commonMatters) func anOptionIsPartOfTheKeyIfItIsDeclaredCommon(change: Change) {
        let (before, after) = (Self.specification(), Self.specification(change.apply))
        let options = TaskSpecification.storedOptions.filter { $0.text(in: before) != $0.text(in: after) }
        guard !options.isEmpty else { return }
        #expect(options.contains { $0.sharing == .common } == (Self.key(before) != Self.key(after)))
    }

    /// The stored options of a row with one member.
    private struct Row: Decodable {
        let options: KeyedDecodingContainer<OptionName>

        init(from decoder: any Decoder) throws { options = try decoder.container(keyedBy: OptionName.self) }
    }

    /// Options with a simple value need no line in the lists above.
    @Test func aStoredOptionWithASimpleValueIsPartOfTheKeyIfItIsDeclaredCommon() throws {
        let before = Self.specification()
        var checked: Set<String> = []
        for option in TaskSpecification.storedOptions {
            for value in ["true", "false", "250", "\"x\""] {
                let row = try JSONDecoder().decode(Row.self, from: Data("{\"\(option.name)\": \(value)}".utf8))
                var after = before
                guard (try? option.decode(from: row.options, to: &after)) != nil,
                    option.text(in: after) != option.text(in: before)
                else { continue }
                checked.insert(option.name)
                #expect((option.sharing == .common) == (Self.key(before) != Self.key(after)), "\(option.name)")
            }
        }
        #expect(checked.isSuperset(of: ["rejectsPages", "maxSize", "authoritiesFile", "retriesNonIdempotent"]))
    }

    /// A property that is neither would be lost with a restart.
    @Test func everyPropertyOfASpecificationHasAColumnOrIsAStoredOption() {
        let columns: Set<String> = [
            "owner", "kind", "request", "destination", "checksum", "priority", "group", "label", "clientKey", "meta",
            "policy", "profile", "slot", "url", "directory", "directoryIdentity", "name",
        ]
        let options = TaskSpecification.storedOptions.map(\.name)
        #expect(Set(options).count == options.count)
        let specification = Self.specification()
        for value: Any in [specification, specification.request, specification.destination] {
            for case let name? in Mirror(reflecting: value).children.map(\.label) {
                #expect(columns.contains(name) || options.contains(name), "\(name)")
            }
        }
    }

    @Test func headersCompareAsHTTPDoes() {
        func headers(_ pairs: (String, String)...) -> CoalesceKey? {
            Self.key(Self.specification { $0.request.headers = pairs.map { HeaderField(name: $0.0, value: $0.1) } })
        }
        #expect(headers(("Accept", "a"), ("X-B", "b")) == headers(("x-b", "b"), ("ACCEPT", "a")))
        #expect(headers(("A", "1"), ("B", "2"), ("A", "3")) == headers(("B", "2"), ("A", "1"), ("A", "3")))
        #expect(headers(("A", "1"), ("A", "3")) != headers(("A", "1, 3")))
    }

    @Test func onlyRequestsWithoutContentHaveACoalesceKey() {
        for method in HTTPMethod.common {
            let key = Self.key(Self.specification { $0.request.method = method })
            #expect((key != nil) == (method == .get || method == .head), "\(method)")
        }
        #expect(
            Self.key(Self.specification { $0.request.bodySummary = BodySummary(form: .inline, length: 0) }) == nil)
        #expect(Self.key(Self.specification { $0.kind = .upload }) == nil)
    }

    @Test func ownersShareOnlyIfTheOperatorAllowsIt() {
        let (mine, theirs) = (Self.specification(), Self.specification { $0.owner = Owner(uid: 1001) })
        #expect(Self.key(mine, shared: true) == Self.key(theirs, shared: true))
        #expect(Self.key(mine, shared: true) != Self.key(mine, shared: false))
    }

    /// Two tasks made of a few changes each have the same key just when the changes that matter leave the same request.
    @Test func randomTasksShareJustWhenTheirRequestsAreEqual() {
        var random = SplitMix64(seed: 5)
        var seen: [CoalesceKey: (TransferRequest, [HTTPURL], String?, String?, Owner)] = [:]
        var repeated = 0
        for _ in 0..<5000 {
            var specification = Self.specification()
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                Self.commonMatters.randomElement(using: &random)?.apply(&specification)
            }
            let bare = specification
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                Self.ownMatters.randomElement(using: &random)?.apply(&specification)
            }
            guard let key = Self.key(specification) else { continue }
            let essence = (bare.request, bare.mirrors, bare.policy, bare.profile, bare.owner)
            if let earlier = seen[key] {
                repeated += 1
                #expect(earlier == essence)
            } else {
                #expect(!seen.values.contains { $0 == essence })
                seen[key] = essence
            }
        }
        #expect(repeated > 1000 && seen.count > 100)
    }

    /// A text can be written so that it looks like two, or like the end of one and the beginning of the next.
    @Test func noTextOfAKeyCanBeTakenForItsNeighbours() {
        var random = SplitMix64(seed: 6)
        let alphabet: [Character] = ["\u{0}", "\u{1}", "\u{2}", "a", "\n"]
        func text() -> String {
            String(
                (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) })
        }
        var seen: [CoalesceKey: TaskSpecification] = [:]
        for _ in 0..<3000 {
            let texts = (0..<4).map { _ in text() }
            let specification = Self.specification {
                $0.policy = texts[0]
                $0.profile = texts[1]
                $0.request.headers = [HeaderField(name: texts[2], value: texts[3])]
            }
            guard let key = Self.key(specification) else { continue }
            if let earlier = seen[key] { #expect(earlier == specification) }
            seen[key] = specification
        }
    }

    @Test func withoutADigestNoTransferIsShared() {
        #expect(CoalesceKey(Self.specification(), isSharedBetweenOwners: false, digest: { _ in nil }) == nil)
    }
}
