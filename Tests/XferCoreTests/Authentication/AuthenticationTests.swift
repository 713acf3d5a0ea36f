import Testing
import XferCore
import XferModel

@Suite struct AuthenticationTests {
    private let hop = HTTPURL(scheme: .https, host: "host.test", port: 443, target: "/")

    private func credential(_ scheme: Credential.Scheme, user: String = "me", secret: String = "s3cret")
        -> ResolvedCredential
    {
        ResolvedCredential(scheme: scheme, user: user, secret: secret, origins: [hop.origin])
    }

    @Test func eachKindOfCredentialBecomesItsOwnAuthentication() {
        #expect(HopAuthentication(credential(.basic), hop: hop) == .field("Basic bWU6czNjcmV0"))
        #expect(HopAuthentication(credential(.bearer, user: ""), hop: hop) == .field("Bearer s3cret"))
        #expect(HopAuthentication(credential(.digest), hop: hop) == .digest(user: "me", password: "s3cret"))
        #expect(
            HopAuthentication(credential(.awsSigV4(region: "r", service: "s3"), user: "AKID"), hop: hop)
                == .signature(RequestSigner(keyID: "AKID", secretKey: "s3cret", region: "r", service: "s3")))
        let netrc = "machine host.test login me password s3cret"
        #expect(HopAuthentication(credential(.netrc, secret: netrc), hop: hop) == .field("Basic bWU6czNjcmV0"))
        let other = "machine other.test login a password b"
        #expect(HopAuthentication(credential(.netrc, user: "", secret: other), hop: hop) == .none)
        // As curl does for a user of the URL without an entry.
        #expect(HopAuthentication(credential(.netrc, secret: other), hop: hop) == .field("Basic bWU6"))
        #expect(HopAuthentication(nil, hop: hop) == .none)
    }

    @Test(arguments: [
        Credential.Scheme.basic, .digest, .bearer, .netrc, .awsSigV4(region: "r", service: "s3"),
    ])
    func aCredentialIsSentOnlyToItsOrigins(scheme: Credential.Scheme) {
        let shown = credential(scheme, secret: "default login a password b")
        for other in [
            HTTPURL(scheme: .http, host: "host.test", port: 443, target: "/"),
            HTTPURL(scheme: .https, host: "host.test", port: 8443, target: "/"),
            HTTPURL(scheme: .https, host: "sub.host.test", port: 443, target: "/"),
            HTTPURL(scheme: .https, host: "host.test.", port: 443, target: "/"),
        ] { #expect(HopAuthentication(shown, hop: other) == .none, "\(other)") }
        #expect(HopAuthentication(shown, hop: hop) != .none)
        #expect(HopAuthentication(shown, hop: hop, hasOwnField: true) == .none)
    }

    @Test func aNetrcFileServesTheHostsItNamesOverTLSOnly() {
        let text =
            "machine login.test login me password s3cret machine host.test login me password home default login d password p"
        var netrc = credential(.netrc, user: "", secret: text)
        let named = HTTPURL(scheme: .https, host: "login.test", port: 8443, target: "/")
        #expect(HopAuthentication(netrc, hop: named) == .none, "its origins are stated")
        netrc.servesNamedHosts = true
        #expect(HopAuthentication(netrc, hop: named) == .field("Basic bWU6czNjcmV0"))
        #expect(HopAuthentication(netrc, hop: hop) == .field("Basic bWU6aG9tZQ=="))
        for other in [
            HTTPURL(scheme: .http, host: "login.test", port: 80, target: "/"),
            HTTPURL(scheme: .http, host: "host.test", port: 443, target: "/"),
            HTTPURL(scheme: .https, host: "other.test", port: 443, target: "/"),
            HTTPURL(scheme: .https, host: "x.login.test", port: 443, target: "/"),
        ] { #expect(HopAuthentication(netrc, hop: other) == .none, "\(other)") }
        var basic = credential(.basic)
        basic.servesNamedHosts = true
        #expect(HopAuthentication(basic, hop: named) == .none)
    }

    @Test func aNetrcFileServesPlainHTTPOnlyWhereTheFirstURLIsThatOrigin() {
        let home = HTTPURL(scheme: .http, host: "host.test", port: 8080, target: "/")
        let own = Credential(scheme: .netrc, user: "", secret: .value("machine host.test login me password s3cret"))
        let netrc = ResolvedCredential(inline: own, home: home.origin)
        #expect(HopAuthentication(netrc, hop: home) != .none)
        let elsewhere = HTTPURL(scheme: .http, host: "host.test", port: 8081, target: "/")
        #expect(HopAuthentication(netrc, hop: elsewhere) == .none)
        #expect(HopAuthentication(netrc, hop: hop) != .none, "the same host over TLS")
    }

    @Test func secretsOfACredentialNeverAppearInItsDescription() {
        for scheme in [Credential.Scheme.basic, .digest, .bearer, .awsSigV4(region: "r", service: "s3")] {
            let text = "\(credential(scheme)) \(HopAuthentication(credential(scheme), hop: hop))"
            #expect(!text.contains("s3cret") && !text.contains("bWU6czNjcmV0"), "\(text)")
        }
    }

    // MARK: netrc(5)

    @Test func netrcEntriesAreFoundByMachine() {
        let netrc = Netrc(
            """
            # comment with machine words login
            machine one.test login a password b
            machine TWO.test
                login "c d"
                account ignored
                password "e\\"f\\\\"
            macdef init
            machine not.test login x password y

            machine hash.test login h password #not-a-comment
            default login any password one
            machine late.test login z password z
            """)
        #expect(netrc.login(for: "one.test") == Netrc.Login(user: "a", password: "b"))
        #expect(netrc.login(for: "two.test") == Netrc.Login(user: "c d", password: "e\"f\\"))
        #expect(netrc.login(for: "hash.test") == Netrc.Login(user: "h", password: "#not-a-comment"))
        #expect(netrc.login(for: "not.test") == Netrc.Login(user: "any", password: "one"))
        #expect(netrc.login(for: "LATE.test") == Netrc.Login(user: "z", password: "z"))
        #expect(Netrc("machine one.test login a password b").login(for: "x.one.test") == nil)
    }

    @Test(arguments: [
        "", "machine", "login a", "password", "machine a login", "\"", "default", "macdef", "macdef x\n\n",
        "garbage \\", "machine host.test login a password \"b\nmachine host.test login c password d",
        "machine host.test login \"a", "machine host.test login \"a\\",
    ])
    func brokenNetrcTextIsIgnored(text: String) {
        #expect(Netrc(text).login(for: "host.test") == nil)
    }

    private static let twoAccounts = """
        # the following two lines were created while testing curl
        machine host.test login user1 password passwd1
        machine host.test login user2 password passwd2
        """

    /// The cases of curl's tests, by their numbers; those with letters are this project's.
    @Test(
        arguments: [
            ("130", twoAccounts + "\ndefault login userdef password passwddef", nil, nil, "user1:passwd1"),
            ("131", twoAccounts, "user2", nil, "user2:passwd2"),
            ("132", twoAccounts, "mary", "mark", "mary:mark"),
            ("133", twoAccounts, "user2", "mark", "user2:passwd2"),
            (
                "478",
                "\nmachine host.test\npassword weird\npassword firstone\nlogin daniel\n\nmachine host.test\n\n"
                    + "machine host.test\nlogin debbie\n\nmachine host.test\npassword weird\n"
                    + #"password "second\r""# + "\nlogin debbie\n", "debbie", nil, "debbie:second\r"
            ),
            ("684", "machine host.test password 5up3r53cr37", nil, nil, ":5up3r53cr37"),
            ("685", "machine host.test password 5up3r53cr37", "user", nil, "user:5up3r53cr37"),
            ("a, no other account's password", twoAccounts, "mary", nil, "mary:"),
            ("b, a login without password", "machine host.test login a", nil, nil, "a:"),
            ("c, the first with a password", "machine host.test login a\n\(twoAccounts)", nil, nil, "user1:passwd1"),
            ("d, default of the account", "default login me password p", "me", nil, "me:p"),
            ("e, default of another", "default login you password p", "me", nil, "me:"),
            (
                "f, macdef within an entry", "machine host.test login a\nmacdef x\npassword no\n\npassword b", nil, nil,
                "a:b"
            ),
            ("g, two macros", "macdef a\nx\n\nmacdef b\nlogin no\n\n\(twoAccounts)", nil, nil, "user1:passwd1"),
            ("h, any case", "MACHINE Host.Test LOGIN a PASSWORD b", nil, nil, "a:b"),
            ("i, escapes", #"machine host.test login "a b" password "c\\d\"e\n""#, nil, nil, "a b:c\\d\"e\n"),
            ("j, plain backslashes", #"machine host.test login a password c\d"#, nil, nil, #"a:c\d"#),
        ] as [(String, String, String?, String?, String)])
    func aNetrcFileIsReadAsCurlDoes(
        number: String, text: String, user: String?, password: String?, expected: String
    ) throws {
        let own = Credential(scheme: .netrc, user: "", secret: .value(text))
        let userInfo = user.map { Credential(user: $0, password: password ?? "") }
        let resolved = ResolvedCredential(inline: own.completed(by: userInfo), home: hop.origin)
        let field = "Basic " + Base64.encode(expected.utf8)
        #expect(HopAuthentication(resolved, hop: hop) == .field(field), "\(number)")
    }

    @Test func theAccountAndThePasswordOfAURLStayAtItsOrigin() {
        let own = Credential(scheme: .netrc, user: "", secret: .value("machine login.test login you password p"))
        let netrc = own.completed(by: Credential(user: "me", password: "s3cret"))
        let resolved = ResolvedCredential(inline: netrc, home: hop.origin)
        #expect(HopAuthentication(resolved, hop: hop) == .field("Basic bWU6czNjcmV0"))
        let named = HTTPURL(scheme: .https, host: "login.test", port: 443, target: "/")
        #expect(HopAuthentication(resolved, hop: named) == .field("Basic eW91OnA="))
        var bound = own
        bound.origins = [named.origin]
        #expect(bound.completed(by: Credential(user: "me", password: "s3cret")) == bound)
        let basic = Credential(user: "a", password: "b")
        #expect(basic.completed(by: Credential(user: "me", password: "s3cret")) == basic)
    }

    // MARK: AWS

    @Test(arguments: [
        ("/", "/"), ("/b/k", "/b/k"), ("/b/k?uploads", "/b/k?uploads="), ("/?b=2&a=1", "/?a=1&b=2"),
        ("/?a=2&a=1&a-b=0", "/?a=1&a=2&a-b=0"), ("/b/a b", "/b/a%20b"), ("/b/%e4%b8%80", "/b/%E4%B8%80"),
        ("/b/(x)!*'$&+,;=:@", "/b/%28x%29%21%2A%27%24%26%2B%2C%3B%3D%3A%40"), ("/b/%7e%41", "/b/~A"),
        ("/?q=a+b&r=a%2Bb", "/?q=a%20b&r=a%2Bb"), ("/?p=a/b", "/?p=a%2Fb"), ("/?&&x", "/?x="), ("/?", "/"),
        ("/b/%", "/b/%25"), ("/b/%zz", "/b/%25zz"), ("/?x=a=b", "/?x=a%3Db"),
    ])
    func aTargetIsNormalisedForSigning(target: String, normalized: String) {
        #expect(SignableTarget.normalized(target) == normalized)
        #expect(SignableTarget.normalized(normalized) == normalized)
    }

    // MARK: What may be stored

    @Test func anUnusableCredentialIsRefusedByField() {
        let refused: [(Credential, String)] = [
            (Credential(user: "a:b", password: "x"), "user"),
            (Credential(user: "a\nb", password: "x"), "user"),
            (Credential(user: "a", password: "x\r\nX-Evil: 1"), "secret"),
            (Credential(scheme: .digest, user: "", secret: .value("x")), "user"),
            (Credential(scheme: .bearer, user: "me", secret: .value("x")), "user"),
            (Credential(scheme: .bearer, user: "", secret: .value("")), "secret"),
            (Credential(scheme: .bearer, user: "", secret: .value("a b")), "secret"),
            (Credential(scheme: .netrc, user: "a:b", secret: .file("/x")), "user"),
            (Credential(scheme: .negotiate, user: "", secret: .value("")), "scheme"),
            (Credential(scheme: .awsSigV4(region: "r", service: "s3"), user: "", secret: .value("x")), "user"),
            (Credential(scheme: .awsSigV4(region: "", service: "s3"), user: "k", secret: .value("x")), "region"),
            (Credential(scheme: .awsSigV4(region: "a:b", service: "s3"), user: "k", secret: .value("x")), "region"),
            (Credential(scheme: .awsSigV4(region: "r", service: "s/3"), user: "k", secret: .value("x")), "service"),
            (Credential(scheme: .awsSigV4(region: "r", service: "s3"), user: "k", secret: .value("")), "secret"),
        ]
        for (credential, field) in refused {
            let fault = #expect(throws: CredentialFault.self) {
                try CredentialRules.check(credential, isOperator: true)
            }
            #expect(fault?.field == field && fault?.isPermission == false, "\(credential.scheme) \(field)")
        }
        #expect(throws: Never.self) {
            try CredentialRules.check(Credential(user: "a", password: ""), isOperator: false)
            try CredentialRules.check(
                Credential(scheme: .netrc, user: "", secret: .value("machine\nx")), isOperator: false)
        }
    }

    @Test(arguments: [Secret.file("/x"), .systemdCredential("x"), .environment("X")])
    func onlyOperatorsMayNameSecretsThatTheServiceReads(secret: Secret) {
        let credential = Credential(user: "a", secret: secret)
        #expect(throws: Never.self) { try CredentialRules.check(credential, isOperator: true) }
        let fault = #expect(throws: CredentialFault.self) { try CredentialRules.check(credential, isOperator: false) }
        #expect(fault?.isPermission == true && fault?.field == "secret")
    }

    @Test func theDaemonsTicketIsForOperatorsProxiesOnly() {
        let negotiate = Credential(scheme: .negotiate, user: "", secret: .value(""))
        #expect(throws: Never.self) { try CredentialRules.check(negotiate, for: .proxy, isOperator: true) }
        let fault = #expect(throws: CredentialFault.self) {
            try CredentialRules.check(negotiate, for: .proxy, isOperator: false)
        }
        #expect(fault?.isPermission == true)
    }

    @Test func aProxyAcceptsOnlyCredentialsThatProxiesHave() {
        for (scheme, user, isTaken) in [
            (Credential.Scheme.basic, "a", true), (.digest, "a", true), (.negotiate, "", true), (.bearer, "", false),
            (.netrc, "", false),
            (.awsSigV4(region: "r", service: "s3"), "a", false),
        ] {
            let credential = Credential(scheme: scheme, user: user, secret: .value("x"))
            let isRefused = (try? CredentialRules.check(credential, for: .proxy, isOperator: true)) == nil
            #expect(isRefused != isTaken, "\(scheme)")
        }
    }
}
