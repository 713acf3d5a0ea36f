import Testing
import XferCore
import XferModel

/// Only the plainest first request may run before its start is committed.
@Suite struct BriefRulesTests {
    private static func task(_ change: (inout TransferTask) -> Void = { _ in }) -> TransferTask {
        let url = HTTPURL(scheme: .http, host: "a.example", port: 80, target: "/f")
        var task = TransferTask(
            id: TaskID(1),
            specification: TaskSpecification(
                owner: Owner(uid: 1000), request: TransferRequest(url: url), destination: Destination(directory: "/d")),
            state: .queued, rank: 1, createdAt: Timestamp(microseconds: 0))
        change(&task)
        return task
    }

    @Test func aPlainFirstDownloadMayBeBrief() throws {
        #expect(BriefRules.mayBeBrief(Self.task(), segments: .one))
        #expect(
            BriefRules.mayBeBrief(Self.task { $0.specification.destination.onConflict = .overwrite }, segments: .one))
    }

    @Test(arguments: Obstacle.allCases) func aTaskWithAnObstacleMayNot(_ obstacle: Obstacle) throws {
        let task = Self.task { obstacle.apply(to: &$0) }
        #expect(!BriefRules.mayBeBrief(task, segments: .one))
    }

    @Test func theServicesSegmentsCountUnlessTheTaskHasItsOwn() throws {
        let four = try #require(SegmentCount(4))
        #expect(!BriefRules.mayBeBrief(Self.task(), segments: four))
        #expect(BriefRules.mayBeBrief(Self.task { $0.specification.segments = .one }, segments: four))
    }

    @Test func aRoundWaitsForMoreBodiesOnlyWhileFewWaitAndMoreCome() {
        let (interval, full) = (BriefRules.gatheringTime, BriefRules.fullRound)
        let nanosecond = Duration.nanoseconds(1)
        for waiting in [0, 1, full - 1] {
            for (elapsed, pause) in [
                (.seconds(-3600), interval), (.zero, interval), (interval - nanosecond, nanosecond), (interval, .zero),
                (.seconds(3600), .zero),
            ] {
                #expect(BriefRules.pauseBeforeRound(after: elapsed, waiting: waiting, fetching: 1) == pause)
                #expect(BriefRules.pauseBeforeRound(after: elapsed, waiting: waiting, fetching: 0) == .zero)
            }
        }
        for waiting in [full, full + 1] {
            #expect(BriefRules.pauseBeforeRound(after: .zero, waiting: waiting, fetching: 1) == .zero)
        }
    }

    /// Whatever a brief run could not do again, or could not know.
    enum Obstacle: CaseIterable {
        case upload, data, head, credential, profileSecret, profileCertificate, certificate, jar, cookie, proxy, metered
        case cachedAnswer, keptAnswer, earlierTry, earlierBytes, earlierFailure, transfer, mirror, segments
        case skip, fail, update, manual, hook, unixSocket

        func apply(to task: inout TransferTask) {
            let url = task.specification.request.url
            switch self {
            case .upload: task.specification.kind = .upload
            case .data: task.specification.kind = .data
            case .head: task.specification.request.method = .head
            case .credential:
                task.specification.request.credential = Credential(scheme: .basic, user: "u", secret: .value("s"))
            case .profileSecret: task.specification.request.usesProfileCredential = true
            case .profileCertificate: task.specification.request.usesProfileCertificate = true
            case .certificate:
                task.specification.request.clientCertificate = ClientCertificateFiles(certificate: "/c", key: "/k")
            case .jar: task.specification.request.usesCookies = true
            case .cookie:
                task.specification.request.cookies = [RequestCookie(domain: "a.example", name: "n", value: "v")]
            case .proxy: task.specification.request.proxy = ProxySettings(url: "http://p.example")
            case .metered: task.specification.request.allowsMetered = false
            case .cachedAnswer: task.specification.request.caching.policy = .protocol
            case .keptAnswer: task.specification.request.caching.stores = true
            case .earlierTry: task.attempts = 1
            case .earlierBytes: task.furthest = 1
            case .earlierFailure: task.error = TransferError(.connectFailed, "no")
            case .transfer: task.transferID = TransferID(1)
            case .mirror: task.specification.mirrors = [url]
            case .segments: task.specification.segments = SegmentCount(2)
            case .skip: task.specification.destination.onConflict = .skip
            case .fail: task.specification.destination.onConflict = .fail
            case .update: task.specification.destination.onConflict = .update
            case .manual: task.specification.completion.finalize = .manual
            case .hook: task.specification.completion.postProcess = "h"
            case .unixSocket: task.specification.request.connections.unixSocket = "/s"
            }
        }
    }
}
