import Testing
import XferCore
import XferModel

@Suite struct RedirectRulesTests {
    private func url(_ scheme: HTTPURL.Scheme, _ host: String, port: UInt16? = nil) -> HTTPURL {
        HTTPURL(scheme: scheme, host: host, port: port ?? scheme.defaultPort, target: "/")
    }

    private func reason(
        _ policy: RedirectPolicy, _ from: HTTPURL, _ to: HTTPURL, allowsDowngrade: Bool = false
    ) -> FailureReason? {
        var request = TransferRequest(url: from)
        request.redirect = policy
        request.allowsDowngrade = allowsDowngrade
        var rules = RedirectRules(request)
        do throws(TransferError) {
            try rules.onRedirect(status: 302, from: from, to: to)
            return nil
        } catch {
            #expect(!error.isRetriable)
            return error.reason
        }
    }

    @Test func onlyAnUpgradeOfTheSameHostAndPathLeadsToTheSameResource() {
        let first = url(.http, "a")
        let other = HTTPURL(scheme: .http, host: "a", port: 80, target: "/f")
        #expect(!RedirectRules.leadsElsewhere(from: first, to: first))
        #expect(!RedirectRules.leadsElsewhere(from: first, to: url(.https, "a")))
        for last in [other, url(.http, "b"), url(.https, "b"), url(.http, "a", port: 81)] {
            #expect(RedirectRules.leadsElsewhere(from: first, to: last))
        }
    }

    @Test func redirectPoliciesDecideByOriginAndScheme() {
        #expect(reason(.follow, url(.http, "a"), url(.https, "b")) == nil)
        #expect(reason(.follow, url(.https, "a"), url(.http, "a")) == .insecureRedirect)
        #expect(reason(.follow, url(.https, "a"), url(.http, "a"), allowsDowngrade: true) == nil)
        #expect(reason(.sameOrigin, url(.http, "a"), url(.http, "a")) == nil)
        for other in [url(.http, "b"), url(.https, "a"), url(.http, "a", port: 81)] {
            #expect(reason(.sameOrigin, url(.http, "a"), other) == .redirectDenied)
        }
        #expect(reason(.deny, url(.http, "a"), url(.http, "a")) == .redirectDenied)
    }

    /// RFC 9110 §15.4: rows are methods, columns 301, 302, 303, 307, 308.
    @Test(
        arguments: [
            (.get, [.get, .get, .get, .get, .get]), (.head, [.head, .head, .head, .head, .head]),
            (.post, [.get, .get, .get, .post, .post]), (.put, [.put, .put, .get, .put, .put]),
            (.patch, [.patch, .patch, .get, .patch, .patch]), (.delete, [.delete, .delete, .get, .delete, .delete]),
        ] as [(HTTPMethod, [HTTPMethod])])
    func theStatusDecidesTheMethodAfterARedirect(method: HTTPMethod, then: [HTTPMethod]) {
        #expect([301, 302, 303, 307, 308].map { RedirectRules.method(after: $0, to: method) } == then)
    }

    @Test(arguments: [nil, 0, 1, 21]) func asManyRedirectsAreAllowedAsTheRequestSaysElseTwenty(limit: Int?) throws {
        var request = TransferRequest(url: url(.http, "a"))
        if let limit { request.maxRedirects = limit }
        var rules = RedirectRules(request)
        for _ in 0..<(limit ?? 20) { try rules.onRedirect(status: 302, from: url(.http, "a"), to: url(.http, "a")) }
        let error = #expect(throws: TransferError.self) {
            try rules.onRedirect(status: 302, from: url(.http, "a"), to: url(.http, "a"))
        }
        #expect(error?.reason == .tooManyRedirects)
    }

    @Test func onlyADeniedRedirectWithAnAcceptedStatusIsDelivered() {
        var request = TransferRequest(url: url(.http, "a"))
        func delivers(_ policy: RedirectPolicy, _ accepted: ClosedRange<Int>) -> Bool {
            request.redirect = policy
            request.acceptedStatus = StatusSet(accepted)
            return RedirectRules(request).delivers(status: 302)
        }
        #expect(delivers(.deny, 200...399) && delivers(.deny, 302...302))
        #expect(!delivers(.deny, 200...299) && !delivers(.deny, 303...399))
        #expect(!delivers(.follow, 200...399) && !delivers(.sameOrigin, 200...399))
    }
}

@Suite struct HopHeadersTests {
    let home = HTTPURL(scheme: .https, host: "home", port: 443, target: "/")
    let other = HTTPURL(scheme: .https, host: "other", port: 443, target: "/")

    private func fields(_ request: TransferRequest, _ kept: ResumeData = ResumeData(), at hop: HTTPURL) -> [String] {
        HopHeaders.fields(
            for: request, plan: ResumeRules.plan(kept: kept), hop: HopHeaders.Hop(url: hop),
            credential: ResolvedCredential(inline: request.credential, home: request.url.origin), userAgent: "xferd/1"
        )
        .map { "\($0.name): \($0.value)" }
    }

    @Test func defaultFieldsAreAddedOnlyIfAbsent() {
        var request = TransferRequest(url: home)
        #expect(fields(request, at: home) == ["User-Agent: xferd/1", "Accept-Encoding: identity"])
        request.headers = [
            HeaderField(name: "user-agent", value: "mine"), HeaderField(name: "Accept-Encoding", value: "gzip"),
        ]
        #expect(fields(request, at: home) == ["user-agent: mine", "Accept-Encoding: gzip"])
    }

    @Test func secretsAreNotSentToAnotherOrigin() {
        var request = TransferRequest(url: home)
        request.headers = [
            "Cookie", "Authorization", "X-Api-Key", "X-Auth-Token", "Proxy-Authorization", "Host", "X-Plain",
        ].map {
            HeaderField(name: $0, value: "v")
        }
        #expect(fields(request, at: home).count == 9)
        #expect(fields(request, at: other) == ["X-Plain: v", "User-Agent: xferd/1", "Accept-Encoding: identity"])
        let downgraded = HTTPURL(scheme: .http, host: "home", port: 80, target: "/")
        #expect(fields(request, at: downgraded).contains { $0.hasPrefix("Authorization") } == false)
    }

    @Test func framingAndRangeFieldsOfTheClientAreReplaced() {
        var request = TransferRequest(url: home)
        request.headers = ["Range", "If-Range", "Content-Length", "Transfer-Encoding", "Expect"].map {
            HeaderField(name: $0, value: "v")
        }
        #expect(fields(request, at: home) == ["User-Agent: xferd/1", "Accept-Encoding: identity"])
    }

    @Test func aRangeIsSentWithTheFieldsThatSelectedTheKeptBytes() {
        var request = TransferRequest(url: home)
        request.headers = [
            HeaderField(name: "Accept", value: "new"), HeaderField(name: "Accept-Encoding", value: "gzip"),
        ]
        let kept = ResumeData(
            validators: Validators(etag: "\"a\""), selectingHeaders: [HeaderField(name: "accept", value: "old")],
            segments: [Segment(start: 0, committed: 5)])
        #expect(
            fields(request, kept, at: home) == [
                "accept: old", "User-Agent: xferd/1", "Accept-Encoding: identity", "Range: bytes=5-", "If-Range: \"a\"",
            ])
    }
}

@Suite struct IdleDeadlineTests {
    private func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

    @Test func theIdleTimeoutCountsFromTheLastByteAndNotWhilePaused() {
        var idle = IdleDeadline(timeout: 10)
        #expect(idle.deadline == nil)
        idle.onActivity(at(0))
        #expect(idle.deadline == at(10))
        idle.onActivity(at(5))
        #expect(idle.deadline == at(15))
        idle.onPause(at(8))
        #expect(idle.deadline == nil)
        idle.onResume(at(100))
        // Three seconds of silence had passed before the pause.
        #expect(idle.deadline == at(107))
    }

    @Test func bytesThatArriveWhilePausedRestartTheIdleTimeout() {
        var idle = IdleDeadline(timeout: 10)
        idle.onActivity(at(0))
        idle.onPause(at(1))
        idle.onActivity(at(2))
        idle.onResume(at(50))
        #expect(idle.deadline == at(60))
    }

    @Test func anIdleTimeoutOfZeroNeverExpires() {
        var idle = IdleDeadline(timeout: 0)
        idle.onActivity(at(0))
        #expect(idle.deadline == nil)
    }
}
