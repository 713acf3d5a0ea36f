import Testing
import XferCore
import XferModel
import XferTestSupport

/// What refusals mean, for every status and state of a download.
@Suite struct RefusalTests {
    static let now = Timestamp(seconds: 1_800_000_000)
    static let plain = "/file.iso"
    static let signed = "/file.iso?X-Amz-Signature=0f&X-Amz-Expires=60"

    static func task(
        _ target: String = plain, received: Int64 = 0, kind: TaskKind = .download, tries: Int = 1,
        _ change: (inout TaskSpecification) -> Void = { _ in }
    ) -> TransferTask {
        let url = HTTPURL(scheme: .https, host: "files.example", port: 443, target: target)
        var specification = TaskSpecification(
            owner: Owner(uid: 1), request: TransferRequest(url: url), destination: Destination(directory: "/d"),
            kind: kind)
        change(&specification)
        var task = TransferTask(id: TaskID(1), specification: specification, state: .running, rank: 1, createdAt: now)
        (task.received, task.attempts, task.lastProgressAt) = (received, tries, now)
        return task
    }

    static func error(
        _ status: Int, host: String? = "files.example", says: Bool = false, isRedirected: Bool = false
    ) -> TransferError {
        let reason: FailureReason = [401, 407].contains(status) ? .authFailed : .httpStatus
        var error = TransferError(
            reason, "no", isRetriable: ResponseRules.isRetriable(status: status), httpStatus: status, host: host)
        if says { error.saysExpired = true }
        if isRedirected { error.isRedirected = true }
        return error
    }

    private func decide(_ error: TransferError, _ task: TransferTask, others: Int = 0) -> RetryPolicy.Decision {
        var random = SplitMix64(seed: 1)
        return RetryPolicy().decide(
            after: error, of: task, at: Self.now, requestWasSent: true, othersOfHost: others, using: &random)
    }

    @Test(arguments: 400...599) func withoutBytesTheStatusAloneDecides(status: Int) {
        let meaning = Refusal.meaning(of: Self.error(status), to: Self.task())
        #expect(meaning == (ResponseRules.isRetriable(status: status) ? .passing : .final))
        // Nothing has expired before its first byte.
        #expect(Refusal.meaning(of: Self.error(status, says: true), to: Self.task(Self.signed)) == meaning)
    }

    @Test(arguments: 400...599) func afterHalfAFileAPlainURLIsAskedAgain(status: Int) {
        let meaning = Refusal.meaning(of: Self.error(status), to: Self.task(received: 5))
        let expected: Refusal =
            switch status {
            case 401, 403: .passing
            case _ where ResponseRules.isRetriable(status: status): .passing
            case 407, 410, 500...: .final
            default: .doubtful
            }
        #expect(meaning == expected)
    }

    @Test(arguments: 400...599, [plain, signed])
    func afterHalfAFileAURLHasExpiredIfItIsSignedOrTheAnswerSaysSo(status: Int, target: String) {
        for says in [false, true] {
            let error = Self.error(status, says: says)
            let expired =
                switch status {
                case 400: says
                case 401, 403, 404, 410: says || target == Self.signed
                default: false
                }
            let task = Self.task(target, received: 5)
            #expect(SourceExpiry.isExpired(task, after: error) == expired)
            #expect((decide(error, task) == .wait(Wait(.sourceExpired))) == expired)
            // An answer behind a redirect is about the URL that the redirect named.
            #expect(!SourceExpiry.isExpired(task, after: Self.error(status, host: "mirror.example", says: says)))
            #expect(!SourceExpiry.isExpired(Self.task(target, received: 5, kind: .data), after: error))
            // What a proxy refuses is not the URL.
            var refused = error
            refused.proxy = "http://proxy.example:3128"
            #expect(!SourceExpiry.isExpired(task, after: refused))
        }
    }

    @Test func withCredentialsNoURLExpiresAndAnUnauthorizedRequestIsFinal() {
        let changes: [(inout TaskSpecification) -> Void] = [
            { $0.request.credential = Credential(user: "u", password: "p") },
            { $0.request.usesProfileCredential = true },
            { $0.request.headers = [HeaderField(name: "authorization", value: "Bearer x")] },
        ]
        for change in changes {
            let task = Self.task(Self.signed, received: 5, change)
            #expect(Refusal.meaning(of: Self.error(401, says: true), to: task) == .final)
            #expect(Refusal.meaning(of: Self.error(403, says: true), to: task) == .passing)
        }
    }

    /// The redirect leads to another host, or to another path of the same one.
    @Test(arguments: 400...599, ["mirror.example", "files.example"])
    func anAnswerBehindARedirectIsDoubtedUnlessItPassesAnyway(status: Int, host: String) {
        let error = Self.error(status, host: host, isRedirected: true)
        let passes = ResponseRules.isRetriable(status: status)
        let expected: Refusal = passes ? .passing : status == 407 ? .final : .doubtful
        #expect(Refusal.meaning(of: error, to: Self.task()) == expected)
        let continued = Refusal.meaning(of: error, to: Self.task(received: 5))
        #expect(continued == ([401, 403].contains(status) ? .passing : expected))
        // An answer to another method, or of an API, is what was asked for.
        let post = Self.task { $0.request.method = .post }
        #expect(Refusal.meaning(of: error, to: post) == (passes ? .passing : .final))
        #expect(Refusal.meaning(of: error, to: Self.task(kind: .data)) == (passes ? .passing : .final))
        // A source that the client named is asked for what it has, unless it redirects, too.
        let mirrored = Self.task {
            $0.mirrors = [HTTPURL(scheme: .https, host: "mirror.example", port: 443, target: "/f")]
        }
        #expect(Refusal.meaning(of: error, to: mirrored) == expected)
        #expect(Refusal.meaning(of: Self.error(status, host: host), to: mirrored) == (passes ? .passing : .final))
    }

    /// Beside others of the host, the number of requests is suspected first, as without a redirect.
    @Test(arguments: 400...599) func besideOthersARedirectChangesNothingOfWhatIsAboutNumbers(status: Int) {
        let error = Self.error(status, isRedirected: true)
        let meaning = Refusal.meaning(of: error, to: Self.task(), othersOfHost: 2)
        #expect((meaning == .fewerAtOnce) == [403, 429, 503].contains(status))
    }

    @Test(arguments: 400...599) func besideOthersAHostMayOnlyWantFewerAtOnce(status: Int) {
        for received: Int64 in [0, 5] {
            let meaning = Refusal.meaning(of: Self.error(status), to: Self.task(received: received), othersOfHost: 2)
            let alone = Refusal.meaning(of: Self.error(status), to: Self.task(received: received))
            #expect(meaning == ([403, 429, 503].contains(status) ? .fewerAtOnce : alone))
        }
        let post = Self.task { $0.request.method = .post }
        let meaning = Refusal.meaning(of: Self.error(status), to: post, othersOfHost: 2)
        #expect((meaning == .fewerAtOnce) == [429, 503].contains(status))
    }

    @Test(arguments: FailureReason.allCases) func onlyAnswersAreRefusals(reason: FailureReason) {
        let isAnswer = [.httpStatus, .authFailed].contains(reason)
        let error = TransferError(reason, "x", httpStatus: 404, host: "files.example")
        #expect((Refusal.meaning(of: error, to: Self.task()) != nil) == isAnswer)
        #expect(Refusal.meaning(of: TransferError(reason, "x"), to: Self.task()) == nil)
    }

    // MARK: How often it is asked again

    @Test func aDoubtfulRefusalIsAskedAgainThreeTimes() {
        var error = Self.error(404, isRedirected: true)
        for doubts in 1...10 {
            error.doubts = doubts
            let decision = decide(error, Self.task(tries: 10))
            if doubts <= Refusal.mostDoubts {
                guard case .wait(let wait) = decision, wait.reason == .retry else {
                    Issue.record("refusal \(doubts): \(decision)")
                    continue
                }
            } else {
                #expect(decision == .fail(error))
            }
        }
        #expect(decide(error, Self.task { $0.retry = RetryLimits(maxRetries: 0) }) == .fail(error))
    }

    /// Neither failures of other kinds before it nor those in between make a doubtful refusal the last one.
    @Test func onlyDoubtfulRefusalsSinceTheLastProgressCount() {
        let (doubtful, passing) = (Self.error(404, isRedirected: true), Self.error(503))
        var task = Self.task(tries: 9)
        #expect(Refusal.counted(passing, of: task).doubts == nil)
        var counts: [Int?] = []
        for error in [passing, doubtful, passing, TransferError(.connectionLost, "x"), doubtful] {
            task.error = Refusal.counted(error, of: task)
            counts.append(task.error?.doubts)
        }
        #expect(counts == [nil, 1, 1, 1, 2])
        task.error?.doubts = -3
        #expect(Refusal.counted(doubtful, of: task).doubts == 1)
        task.error?.doubts = .max
        #expect(Refusal.counted(doubtful, of: task).doubts == .max)
        // A refusal that only the number of transfers explains counts as well, others beside transfers do not.
        task.error = nil
        #expect(Refusal.counted(Self.error(403), of: task, othersOfHost: 1).doubts == 1)
        #expect(Refusal.counted(passing, of: task, othersOfHost: 1).doubts == nil)
    }

    @Test(arguments: [TaskState.waiting, .paused, .queued])
    func anotherSourceEndsTheCountOfDoubtfulRefusals(state: TaskState) {
        var task = Self.task()
        (task.state, task.wait) = (state, state == .waiting ? Wait(.retry, until: Self.now) : nil)
        task.error = Refusal.counted(Self.error(404, isRedirected: true), of: task)
        #expect(task.error?.doubts == 1)
        var machine = TaskStateMachine(task)
        #expect(machine.onNewSource(at: Self.now).isChange == (state == .waiting))
        #expect(machine.task.error != nil && machine.task.error?.doubts == nil)
    }

    @Test func aPassingRefusalIsAskedAgainWithinTheLimitsOfTheTask() {
        let error = Self.error(403)
        for tries in [1, 4, 50] {
            guard case .wait(let wait) = decide(error, Self.task(received: 5, tries: tries)) else {
                Issue.record("try \(tries) was the last one")
                continue
            }
            #expect(wait.reason == .retry && wait.until != nil)
        }
        let limited = Self.task(received: 5, tries: 3) { $0.retry = RetryLimits(maxRetries: 2) }
        #expect(decide(error, limited) == .fail(error))
    }

    @Test func aRefusalBesideOthersWaitsForRoomAndIsAskedThreeTimesWithout() throws {
        #expect(decide(Self.error(403), Self.task()) == .fail(Self.error(403)))
        for doubts in 1...10 {
            var error = Self.error(403)
            error.doubts = doubts
            let decision = decide(error, Self.task(tries: 10), others: 1)
            if doubts <= Refusal.mostDoubts {
                #expect(decision == .wait(Wait(.retry, until: Self.now.advanced(by: Refusal.longestForRoom))))
            } else {
                #expect(decision == .fail(error))
            }
        }
        // Within `retry_for` there is no time to wait so long: the ordinary delays are left.
        let hurried = Self.task { $0.retry.retryFor = 60 }
        guard case .wait(let wait) = decide(Self.error(403), hurried, others: 1) else {
            Issue.record("it was the last try")
            return
        }
        #expect(try #require(wait.until) <= Self.now.advanced(by: .seconds(60)))
    }

    @Test(arguments: [429, 503]) func aServerThatAsksForPatienceIsAskedWithinTheTasksLimits(status: Int) {
        for tries in [1, 4, 50] {
            guard case .wait(let wait) = decide(Self.error(status), Self.task(tries: tries), others: 1) else {
                Issue.record("try \(tries) was the last one")
                continue
            }
            #expect(wait.reason == .retry)
        }
    }

    @Test(arguments: TaskState.allCases) func onlyATaskThatWaitsForRoomIsAskedAgainWhenThereIsSome(state: TaskState) {
        for status in [403, 404, 429, 503] {
            for received: Int64 in [0, 5] {
                var task = Self.task(received: received, tries: 3)
                task.state = state
                task.wait = state == .waiting ? Wait(.retry, until: Self.now) : nil
                task.error = Self.error(status)
                var machine = TaskStateMachine(task)
                let transition = machine.onRoomAtHost()
                let waits = state == .waiting && status == 403 && received == 0
                #expect(transition.isChange == waits)
                #expect(machine.task.state == (waits ? .queued : state))
                #expect(machine.task.attempts == (waits ? 0 : 3))
            }
        }
    }

    @Test(arguments: 300...599, [1, 2, 3, 50]) func theSecondRefusalOfARangeIsWorthARequestForTheWhole(
        status: Int, tries: Int
    ) {
        let mayBeAboutRanges = [400, 403, 405, 406, 412, 500, 501].contains(status)
        #expect(Refusal.mayConcernRange(Self.error(status), tries: tries) == (mayBeAboutRanges && tries > 2))
        var expired = Self.error(status)
        expired.saysExpired = true
        #expect(!Refusal.mayConcernRange(expired, tries: tries))
        var ofProxy = Self.error(status)
        ofProxy.proxy = "http://proxy.example:3128"
        #expect(!Refusal.mayConcernRange(ofProxy, tries: tries))
    }

    // MARK: Signed URLs

    @Test(arguments: [
        "/f?X-Amz-Signature=a", "/f?a=b&X-Goog-Signature=a", "/f?Expires=1&Signature=b&Key-Pair-Id=c",
        "/f?sv=2020&sig=a%3D", "/f?token=t", "/f?md5=x&expires=99", "/f?q-signature=1", "/f?auth_key=1-2",
        "/f?__token__=exp~hmac", "/f?SIG=a", "/f;x?a;sig=b",
    ]) func aURLWithASignatureOrAnEndIsSigned(target: String) {
        #expect(SourceExpiry.isSigned(HTTPURL(scheme: .https, host: "h", port: 443, target: target)))
    }

    @Test(arguments: [
        "/f", "/f?", "/sig=a/f", "/f?id=7&name=token", "/f?sig=", "/f?sig", "/f?design=a", "/f?expiresx=1",
        "/token/f?v=2",
    ]) func anotherURLIsNotSigned(target: String) {
        #expect(!SourceExpiry.isSigned(HTTPURL(scheme: .https, host: "h", port: 443, target: target)))
    }

    @Test(arguments: [
        "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>",
        "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>",
        "<Code>AuthenticationFailed</Code><AuthenticationErrorDetail>Signature not valid in the specified time frame",
        #"{"code":"expired_auth_token"}"#, "URL signature expired", "The link has EXPIRED.",
    ]) func anAnswerThatSaysSoIsRecognised(text: String) { #expect(SourceExpiry.isStated(in: text.utf8)) }

    @Test(arguments: ["", "Access denied", "no", "<Code>InvalidArgument</Code>", "expires soon", "\u{FFFD}"])
    func anotherAnswerSaysNothingOfTheKind(text: String) { #expect(!SourceExpiry.isStated(in: text.utf8)) }

    @Test func onlyTheBeginningOfAnAnswerIsSearched() {
        let code = Array("ExpiredToken".utf8)
        let room = SourceExpiry.longestText - code.count
        #expect(SourceExpiry.isStated(in: [UInt8](repeating: 0x20, count: room) + code))
        #expect(!SourceExpiry.isStated(in: [UInt8](repeating: 0x20, count: room + 1) + code))
    }
}
