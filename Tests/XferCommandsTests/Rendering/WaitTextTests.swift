import Testing
import XferModel
import XferProtocol

@testable import XferCommands

@Suite struct WaitTextTests {
    private let now = Timestamp(microseconds: 0)

    @Test func aWaitIsPrintedWithItsStatusCodeOrItsCauseInWords() {
        let status = TaskSummary.Failure(reason: "http_status", message: "a:80 answered 503 (Service Unavailable)")
        var task = TaskSummary(id: 1, name: "a", state: "waiting", waitReason: "retry", failure: status)
        task.waitUntil = now.advanced(by: .seconds(3))
        #expect(
            WaitText.sentence(task, now: now) == "next attempt in 3s after a:80 answered 503 (Service Unavailable)")
        let lost = TaskSummary.Failure(reason: "connection_lost", message: "long story")
        (task.waitUntil, task.failure) = (nil, lost)
        #expect(WaitText.sentence(task, now: now) == "next attempt soon after connection lost")
    }

    /// The time is only the longest: the request is repeated when the host has ended another transfer.
    @Test func aRefusalBesideOtherTransfersOfItsHostWaitsForThem() {
        var failure = TaskSummary.Failure(reason: "http_status", message: "a:80 answered 403 (Forbidden)")
        failure.httpStatus = 403
        var task = TaskSummary(id: 1, name: "a", state: "waiting", waitReason: "retry", failure: failure)
        task.waitUntil = now.advanced(by: .seconds(1200))
        #expect(
            WaitText.sentence(task, now: now)
                == "until another transfer of its host has ended, or in 20m00s after a:80 answered 403 (Forbidden)")
        task.received = 1
        #expect(WaitText.sentence(task, now: now) == "next attempt in 20m00s after a:80 answered 403 (Forbidden)")
        task.received = 0
        task.failure?.httpStatus = 503
        #expect(WaitText.sentence(task, now: now)?.hasPrefix("next attempt") == true)
        failure.isRetriable = true
        task.failure = failure
        #expect(WaitText.sentence(task, now: now)?.hasPrefix("next attempt") == true)
    }

    @Test func aFullDiskNamesTheDiskTheNeedAndTheReserve() {
        let message =
            "/data lacks 5 B for the rest of the file: 9 B are needed, 10 B are free, and 6 B stay free "
            + "(download.reserve)"
        let failure = TaskSummary.Failure(reason: "insufficient_space", message: message)
        var task = TaskSummary(id: 1, name: "a", state: "waiting", waitReason: "insufficient_space", failure: failure)
        #expect(WaitText.sentence(task, now: now) == "for space on the disk: \(message)")
        task.waitUntil = now.advanced(by: .seconds(30))
        #expect(WaitText.sentence(task, now: now) == "for space on the disk: \(message); checked again in 30s")
        task.failure = nil
        #expect(WaitText.sentence(task, now: now) == "for space on the disk; checked again in 30s")
    }

    @Test func aDiskThatDoesNotAnswerIsNamed() {
        let message = "/mnt/nas does not answer (it contains \"/mnt/nas/x\")"
        let failure = TaskSummary.Failure(reason: "destination_unavailable", message: message)
        var task = TaskSummary(
            id: 1, name: "a", state: "waiting", waitReason: "destination_unavailable", failure: failure)
        #expect(WaitText.sentence(task, now: now) == "for its directory: \(message)")
        task.failure = TaskSummary.Failure(reason: "connection_lost", message: "before")
        #expect(WaitText.sentence(task, now: now) == "for its directory, which is gone (an unmounted disk?)")
    }

    @Test(arguments: [
        (["Basic", "Bearer"], "Log in: `xferctl update 7 -u USER`, then"),
        (["digest"], "`xferctl update 7 -u USER --digest`"),
        (["Bearer"], "Give it a token: `xferctl update 7 --bearer-file FILE`"),
        ([], "or with a token: `xferctl update 7 --bearer-file FILE`; then `xferctl retry 7`"),
    ])
    func aDemandForCredentialsNamesTheCommandThatGivesThem(logins: [String], advice: String) throws {
        let failure = TaskSummary.Failure(
            reason: "auth_failed", message: "a answered 401", httpStatus: 401, host: "a", acceptedLogins: logins)
        #expect(try #require(FailureAdvice.sentence(failure, id: 7)).contains(advice))
    }

    @Test func aTaskThatNoNodeTakesSaysWhyIfNodesHaveSaidSo() {
        var task = TaskSummary(id: 1, name: "a", state: "queued", waitReason: "no_node")
        #expect(WaitText.sentence(task, now: now) == "for a node that may take it; `xferctl fleet nodes` lists them")
        task.waitDetail = "node a: /x is beneath no root\u{1B}[31m"
        #expect(
            WaitText.sentence(task, now: now)?.hasPrefix("every node declines it: node a: /x is beneath no root")
                == true)
        #expect(WaitText.sentence(task, now: now)?.contains("\u{1B}") == false)
        task.waitReason = nil
        #expect(WaitText.sentence(task, now: now) == nil)
    }

    @Test(arguments: [
        (
            "a:443 is not trusted by policy \"default\" version 0: self-signed certificate (certificate 0) (OpenSSL error "
                + "18); the server showed sha256/x= (CN=a)", "self-signed certificate"
        ),
        ("a:443 is not trusted by policy \"p\" version 2: no pin matches; the server showed nothing", "no pin matches"),
        ("something else", "something else"),
    ])
    func theCauseOfADistrustIsTheProblemAlone(message: String, cause: String) {
        let failure = TaskSummary.Failure(reason: "trust_rejected", message: message, host: "a:443")
        #expect(FailureText.cause(failure) == cause)
    }

    @Test func aCauseIsTheMessageWithoutTheHostAndWithoutTheLibrarysNotation() {
        let tls = TaskSummary.Failure(
            reason: "connect_failed",
            message: "a:443: OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number", host: "a:443")
        #expect(FailureText.cause(tls) == "TLS: wrong version number")
        #expect(OutcomeText(style: .plain).reason(tls) == "a:443: TLS: wrong version number (connect_failed)")
        let newer = TaskSummary.Failure(
            reason: "connect_failed", message: "TLS connect error: error:0A00010B:SSL routines::wrong version number")
        #expect(FailureText.cause(newer) == "TLS: wrong version number")
        let refused = TaskSummary.Failure(
            reason: "connect_failed",
            message: "a:1: Failed to connect to a port 1 after 0 ms: Couldn't connect to server", host: "a:1")
        #expect(FailureText.cause(refused) == "Couldn't connect to server")
        let status = TaskSummary.Failure(reason: "http_status", message: "a:1 answered 404 (Not Found)", host: "a:1")
        #expect(FailureText.cause(status) == "404 (Not Found)")
    }

    @Test func anExistingFileGetsTheAdviceOfItsPolicy() throws {
        func advice(_ cause: FailureCause?) throws -> String {
            let failure = TaskSummary.Failure(reason: "destination_exists", message: "/d/f exists", cause: cause)
            return try #require(FailureAdvice.sentence(failure, id: 7))
        }
        #expect(try advice(.unprovenBeginning).contains("--resume unsafe"))
        #expect(try advice(nil).contains("--on-conflict overwrite"))
    }

    @Test func aRefusedLoginOfATaskWithAProfileIsAdvisedForBothCredentials() throws {
        let failure = TaskSummary.Failure(reason: "auth_failed", message: "a answered 401", httpStatus: 401)
        let advice = try #require(FailureAdvice.sentence(failure, id: 7, profile: "api"))
        #expect(advice.contains("`xferctl profile show api`"), "\(advice)")
        #expect(advice.contains("Otherwise, log in with `xferctl update 7 -u USER`"), "\(advice)")
        let own = try #require(FailureAdvice.sentence(failure, id: 7))
        #expect(own.contains("-u USER") && !own.contains("profile"), "\(own)")
    }

    @Test(arguments: [true, false]) func aTaskWithACredentialOfItsOwnDoesNotUseItsProfiles(hasOwn: Bool) throws {
        var task = TaskRecord()
        task.profile = "api"
        if hasOwn { task.access.credential = .set(CredentialRecord(user: "u", password: "***")) }
        #expect(TaskSummary(task).profile == (hasOwn ? nil : "api"))
        #expect(TaskSummary.columns?.names.contains("credential") == true)
    }

    /// `policy set` replaces the whole policy.
    @Test func theAdviceToChangeAPolicyNamesItAndKeepsItsOtherOptions() throws {
        let failure = TaskSummary.Failure(
            reason: "connect_failed", message: "a:443: TLS", host: "a:443", cause: .tlsVersion, policy: "nas")
        let advice = try #require(FailureAdvice.sentence(failure, id: 7))
        #expect(advice.contains("`xferctl policy show nas` shows its options: repeat all of them"), "\(advice)")
    }

    @Test func aFailedHandshakeIsRecognisedByLibcurlsCode() throws {
        func advice(_ code: Int32?) throws -> String {
            let failure = TaskSummary.Failure(reason: "connect_failed", message: "a:443: TLS: x", curlCode: code)
            return try #require(FailureAdvice.sentence(failure, id: 7))
        }
        #expect(try advice(35).contains("fails the TLS handshake"))
        #expect(try advice(7).contains("up and reachable"))
    }

    @Test(arguments: [
        (404, "set another with `xferctl set-source 7 URL`"), (405, "Check the method (-X)"), (403, "-u USER"),
        (503, "The server has a problem of its own"), (nil, "set another with `xferctl set-source 7 URL`"),
    ])
    func theAdviceFitsTheStatus(status: Int?, text: String) throws {
        let failure = TaskSummary.Failure(reason: "http_status", message: "answered", httpStatus: status)
        #expect(try #require(FailureAdvice.sentence(failure, id: 7)).contains(text))
    }

    @Test(arguments: FailureCause.allCases) func everyCauseHasAdviceWithACommandOrAnOption(cause: FailureCause) {
        var failure = TaskSummary.Failure(
            reason: "trust_rejected",
            message: "a:8443 is not trusted by policy \"default\" version 0: self-signed", host: "a:8443", cause: cause,
            shownPin: "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", proxy: "http://p:3128")
        failure.isRetriable = false
        let advice = FailureAdvice.sentence(cause, failure, id: 7)
        #expect(advice.hasSuffix(".") && advice.first?.isUppercase == true)
        #expect(FailureAdvice.sentence(failure, id: 7) == advice)
        let parts: [FailureCause: String] = [
            .tlsVersion: "--min-tls", .clientCertificateRequired: "`xferctl update 7 --cert FILE --key FILE`",
            .clientCertificateRefused: "--cert FILE", .notTLS: "`xferctl set-source 7 'http://a:8443/…'`",
            .tlsExpected: "`xferctl set-source 7 'https://a:8443/…'`", .notHTTP: "`xferctl set-source 7 'https://",
            .selfSigned:
                "`xferctl policy set a-8443 --host a:8443 --allow-invalid-certificates --pin sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=`",
            .wrongHostName: "`xferctl policy test https://a:8443`", .announcedDigest: "--announced-digests ignore",
            .proxyNegotiate: "`xferctl update 7 --proxy http://p:3128 --proxy-negotiate`",
        ]
        if let part = parts[cause] { #expect(advice.contains(part), "\(advice)") }
        let isOfOperators = ["`xferctl policy ", "--cert FILE"].contains { advice.contains($0) }
        #expect(advice.contains("for operators: else ask one") == isOfOperators, "\(advice)")
    }

    @Test func theLineThatPinsAKeyIgnoresANameThatIsWrong() {
        let failure = TaskSummary.Failure(
            reason: "trust_rejected",
            message: "a:1 is not trusted", host: "a:1", cause: .selfSigned, furtherCauses: [.wrongHostName])
        let advice = FailureAdvice.sentence(failure, id: 7)
        #expect(advice?.contains("--allow-invalid-certificates --no-domain-name --pin PIN`") == true)
        var report = ServerReportRecord()
        report.verdict = OpenEnum(.refused)
        report.chain = [ServerCertificateRecord()]
        for isNamed in [true, false] {
            report.stages = [StageRecord(stage: .name, passed: isNamed, detail: "")]
            let lines = ServerReportText(style: .plain).pins(report).joined()
            #expect(lines.contains("--no-domain-name --pin") == !isNamed)
        }
    }

    @Test(arguments: [FailureCause.selfSigned, .unknownAuthority, nil])
    func aHostThatHasAPolicyIsNotGivenASecondOne(cause: FailureCause?) throws {
        var failure = TaskSummary.Failure(
            reason: cause == nil ? "pin_mismatch" : "trust_rejected", message: "nas:8443 is not trusted",
            host: "nas:8443", cause: cause, shownPin: "sha256/x=", policy: "nas")
        let advice = try #require(FailureAdvice.sentence(failure, id: 7))
        #expect(advice.contains("policy \"nas\" decides"), "\(advice)")
        #expect(advice.contains("`xferctl policy pin nas:8443` (for operators: else ask one to run it)"), "\(advice)")
        #expect(!advice.contains("policy set"), "\(advice)")
        failure.policy = "default"
        #expect(FailureAdvice.sentence(failure, id: 7)?.contains("policy pin") == false)
    }

    @Test func aPinnedSelfSignedServerGetsTheCommandThatAllowsIt() {
        let key = "sha256/\(String(repeating: "A", count: 43))="
        var pin = PinRecord()
        (pin.pin, pin.key) = (key, key)
        var policy = PolicyRecord()
        (policy.name, policy.hosts, policy.pins) = ("nas", ["nas.local"], [pin])
        var report = ServerReportRecord()
        (report.host, report.port, report.verdict) = ("nas.local", 443, OpenEnum(.refused))
        var leaf = ServerCertificateRecord()
        leaf.pin = key
        report.chain = [leaf]
        report.stages = [StageRecord(stage: .name, passed: true, detail: "")]
        let text = ServerReportText(style: .plain).pins(report, besides: policy).joined(separator: "\n")
        #expect(
            text.contains("`xferctl policy set nas --host nas.local --allow-invalid-certificates --pin \(key)`"),
            "\(text)")
    }

    @Test func aServersNewKeyIsAddedToTheMostSpecificPolicyOfItsHost() throws {
        let old = "sha256/\(String(repeating: "A", count: 43))="
        let new = "sha256/\(String(repeating: "B", count: 43))="
        var pin = PinRecord()
        (pin.pin, pin.key) = (old, old)
        var (wide, nas, other) = (PolicyRecord(), PolicyRecord(), PolicyRecord())
        (wide.name, wide.hosts) = ("wide", [".local"])
        (other.name, other.hosts) = ("other", ["nas.local:9"])
        (nas.name, nas.hosts, nas.pins) = ("nas", ["*.local", "nas.local:8443"], [pin])
        nas.allowInvalidCertificates = true
        nas.expiresAt = Timestamp(rfc3339: "2027-01-02T03:04:05Z")
        var report = ServerReportRecord()
        (report.host, report.port, report.verdict) = ("nas.local", 8443, OpenEnum(.refused))
        var leaf = ServerCertificateRecord()
        leaf.pin = new
        report.chain = [leaf]
        report.stages = [StageRecord(stage: .name, passed: true, detail: "")]
        let found = try #require(PinAddition.policy(of: report, among: [wide, nas, other]))
        #expect(found.name == "nas")
        let text = ServerReportText(style: .plain).pins(report, besides: found).joined(separator: "\n")
        let line =
            "`xferctl policy set nas --host '*.local' --host nas.local:8443 --allow-invalid-certificates "
            + "--expires-at 2027-01-02T03:04:05.000Z --pin \(old) --pin \(new)`"
        #expect(text.contains("pins another key for nas.local:8443, until ") && text.contains(line), "\(text)")

        nas.origin = OpenEnum(.configuration)
        let configured = ServerReportText(style: .plain).pins(report, besides: nas).joined(separator: "\n")
        #expect(configured.contains("add \(new) to its pins in the configuration file"), "\(configured)")

        leaf.pin = old
        report.chain = [leaf]
        let pinned = ServerReportText(style: .plain).pins(report, besides: nas).joined(separator: "\n")
        #expect(pinned.contains("pins \(old) for nas.local:8443 already, until "), "\(pinned)")
        #expect(!pinned.contains("policy set"))
        (report.host, report.port) = ("example.org", 443)
        #expect(PinAddition.policy(of: report, among: [wide, nas, other]) == nil)
    }

    @Test func aTaskThatIsRetriedHasAdviceIfRepeatingMayNotHelp() {
        let proxies = CallerProxies { $0 == "http_proxy" ? "http://p:3128" : nil }
        func advice(_ state: String, wait: String? = nil, _ failure: TaskSummary.Failure) -> [String] {
            let task = TaskSummary(id: 7, name: "a", state: state, waitReason: wait, failure: failure)
            return TaskDetails(style: .plain, now: now, callerProxies: proxies).advice(task)
        }
        let dead = TaskSummary.Failure(reason: "connect_failed", message: "a:80: refused", host: "a:80")
        let waiting = advice("waiting", wait: "retry", dead)
        #expect(waiting.count == 1 && waiting.first?.contains("--proxy http://p:3128") == true)
        #expect(advice("failed", dead).count == 2)
        #expect(advice("running", dead) == [] && advice("waiting", wait: "network", dead) == [])
        let odd = TaskSummary.Failure(
            reason: "protocol_error", message: "a:80 does not answer with HTTP on this port", host: "a:80",
            cause: .notHTTP)
        #expect(advice("waiting", wait: "retry", odd).first?.contains("set-source 7") == true)
        let busy = TaskSummary.Failure(reason: "http_status", message: "a:80 answered 503", httpStatus: 503)
        #expect(advice("waiting", wait: "retry", busy) == [])
    }

    @Test func adviceOnAProxysFailureIsAboutTheProxy() throws {
        func advice(_ reason: String, status: Int? = nil, logins: [String] = []) throws -> String {
            let failure = TaskSummary.Failure(
                reason: reason, message: "m", httpStatus: status, host: "a", acceptedLogins: logins,
                proxy: "http://p:3128")
            return try #require(FailureAdvice.sentence(failure, id: 7))
        }
        #expect(try advice("auth_failed", status: 407).contains("--proxy http://p:3128 --proxy-user USER`"))
        #expect(try advice("auth_failed", logins: ["Digest"]).contains("--proxy-digest`"))
        #expect(try !advice("auth_failed", logins: ["Digest", "Basic"]).contains("--proxy-digest"))
        #expect(try !advice("auth_failed").contains("-u USER"))
        #expect(try advice("connect_failed").hasPrefix("Check that the proxy is up"))
        #expect(try advice("http_status", status: 403).contains("--no-proxy '*'"))
        #expect(try advice("disk_error").contains("dmesg"))
    }

    @Test func aProxyOfTheCallersEnvironmentIsMentionedWhereItMayBeMissing() {
        let environment = ["https_proxy": "http://me:s3cret@p:3128", "no_proxy": "local.test,10.0.0.0/8"]
        let proxies = CallerProxies { environment[$0] }
        func note(_ reason: String, host: String, proxy: String? = nil) -> String? {
            proxies.note(
                about: TaskSummary.Failure(reason: reason, message: "m", host: host, proxy: proxy), id: 7)
        }
        #expect(proxies.urls == ["http://p:3128"])
        let text = note("connect_timeout", host: "a.test:8443") ?? ""
        #expect(
            text.contains("`xferctl update 7 --proxy http://p:3128`") && text.contains("network.proxy_from_environment")
        )
        #expect(!text.contains("s3cret"))
        for host in ["local.test", "x.local.test:80", "10.1.2.3:80"] { #expect(note("dns_failure", host: host) == nil) }
        #expect(note("http_status", host: "a.test") == nil && note("connect_failed", host: "a.test", proxy: "p") == nil)
        #expect(CallerProxies { _ in nil }.urls.isEmpty)
        #expect(CallerProxies { $0 == "http_proxy" ? "no proxy at all" : nil }.urls.isEmpty)
    }

    @Test func theAdviceOnAFailedHandshakeIsAboutTheSchemeAndThePort() throws {
        let failure = TaskSummary.Failure(
            reason: "connect_failed", message: "OpenSSL/3: error:0A00010B:SSL routines::wrong version number",
            curlCode: 35)
        #expect(try #require(FailureAdvice.sentence(failure, id: 7)).hasPrefix("Check the scheme and the port"))
    }
}
