import Testing
import XferCore
import XferModel

/// Which answers are the servers' and not a portal's.
@Suite struct NetworkProofTests {
    static func url(_ scheme: HTTPURL.Scheme = .http, _ host: String = "files.example") -> HTTPURL {
        HTTPURL(scheme: scheme, host: host, port: scheme.defaultPort, target: "/f")
    }

    static func head(_ status: Int, _ type: String?) -> ResponseHead {
        ResponseHead(status: status, fields: type.map { [HeaderField(name: "Content-Type", value: $0)] } ?? [])
    }

    private static func instant(_ seconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    @Test(arguments: 200...599) func overPlainHTTPOnlyContentThatIsNoPageProves(status: Int) {
        for type in [nil, "text/html; charset=utf-8", "text/plain", "application/xhtml+xml", "image/jpeg"] {
            let proves = (200...299).contains(status) && type == "image/jpeg"
            #expect(NetworkProof.proves(Self.head(status, type), from: Self.url()) == proves)
            #expect(NetworkProof.proves(Self.head(status, type), from: Self.url(.https)))
        }
    }

    @Test func whatAProxyPassesOnOverPlainHTTPProvesNothing() {
        var head = Self.head(200, "image/jpeg")
        #expect(NetworkProof.proves(head, from: Self.url()))
        head.isViaProxy = true
        #expect(!NetworkProof.proves(head, from: Self.url()))
        #expect(NetworkProof.proves(head, from: Self.url(.https)))
    }

    @Test(arguments: HTTPURL.Scheme.allCases) func anAnswerThroughAUnixSocketProvesNoNetwork(scheme: HTTPURL.Scheme) {
        var head = Self.head(200, "image/jpeg")
        #expect(NetworkProof.proves(head, from: Self.url(scheme)))
        head.isViaUnixSocket = true
        #expect(!NetworkProof.proves(head, from: Self.url(scheme)))
    }

    @Test(arguments: ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "a.localhost"])
    func thisMachineNeedsNoProofAndIsNone(host: String) {
        #expect(NetworkProof().isAuthentic(Self.url(.http, host), since: Self.instant(1)))
        #expect(!NetworkProof.proves(Self.head(200, "image/jpeg"), from: Self.url(.https, host)))
    }

    @Test(arguments: ["127.example", "127.0.0.1.example", "128.0.0.1", "localhost.example", "10.0.0.1"])
    func anotherHostNeedsAProof(host: String) {
        #expect(!NetworkProof().isAuthentic(Self.url(.http, host), since: Self.instant(1)))
    }

    @Test func anAnswerOverPlainHTTPIsAuthenticOnceTheNetworkIsProven() {
        var proof = NetworkProof()
        #expect(!proof.isAuthentic(Self.url(), since: Self.instant(1)))
        #expect(proof.isAuthentic(Self.url(.https), since: Self.instant(1)))
        proof.onResponse(Self.head(302, nil), from: Self.url(), since: Self.instant(1))
        #expect(!proof.isAuthentic(Self.url(), since: Self.instant(1)))
        proof.onResponse(Self.head(404, nil), from: Self.url(.https), since: Self.instant(1))
        #expect(proof.isAuthentic(Self.url(), since: Self.instant(1)))
    }

    @Test func aChangedNetworkHasToBeProvenAgainByRunsThatBeganOnIt() {
        var proof = NetworkProof()
        let image = Self.head(200, "image/jpeg")
        proof.onResponse(image, from: Self.url(), since: Self.instant(1))
        proof.onChange(at: Self.instant(5))
        for scheme in HTTPURL.Scheme.allCases {
            #expect(!proof.isAuthentic(Self.url(scheme), since: Self.instant(5)))
        }
        #expect(!proof.isAuthentic(Self.url(), since: Self.instant(6)))
        #expect(proof.isAuthentic(Self.url(.https), since: Self.instant(6)))
        proof.onResponse(image, from: Self.url(), since: Self.instant(5))
        #expect(!proof.isAuthentic(Self.url(), since: Self.instant(6)))
        proof.onResponse(image, from: Self.url(), since: Self.instant(6))
        #expect(proof.isAuthentic(Self.url(), since: Self.instant(6)))
        #expect(!proof.isAuthentic(Self.url(), since: Self.instant(4)))
    }
}
