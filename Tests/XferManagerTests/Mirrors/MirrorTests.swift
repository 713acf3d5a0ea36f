import Testing
import XferCore
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferManager

/// Several sources of one file, over sockets: each fails in its own way, and the file is one version.
@Suite struct MirrorTests {
    private typealias Mirrors = MirrorFixture
    private static let right = MirrorFixture.version(tag: nil)
    private static let rest = "bytes=\(MirrorFixture.cut)-"
    private static let drop = Fault.drop(after: MirrorFixture.cut)

    // MARK: Nothing is kept

    @Test func theFirstMirrorThatHasTheFileSendsIt() async throws {
        let mirrors = try await Mirrors(3)
        mirrors.serve(0, faults: [[.status(404)]])
        mirrors.serve(1)
        mirrors.serve(2)
        let manager = try await mirrors.open()
        let task = try await mirrors.end(of: try await mirrors.add(to: manager), in: manager)
        #expect(task.state == .completed && task.outcome.etag == "\"m1\"")
        #expect(task.outcome.finalURL?.string == mirrors.servers[1].url("/f"))
        #expect(try mirrors.holds(Self.right))
        #expect(mirrors.servers.map(\.requests.count) == [1, 1, 0])
        await manager.shutdown(.suspend)
    }

    /// Neither does its host's wish to be left alone hold anything back, nor is it a try of the task's.
    @Test func aBusyOneIsPassedByAtOnce() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0).always(.status(503, retryAfter: "3000"))
        mirrors.serve(1)
        let manager = try await mirrors.open()
        for name in ["a", "b"] {
            let id = try await mirrors.add(to: manager, as: name) {
                $0.retry = RetryLimits(maxRetries: 0, retryFor: 0)
                $0.coalesces = false
            }
            #expect(try await mirrors.end(of: id, in: manager).state == .completed)
            #expect(try mirrors.holds(Self.right, name))
            #expect(try await mirrors.fixture.events(of: id, in: manager).filter { $0 == .taskStarted }.count == 1)
        }
        await manager.shutdown(.suspend)
    }

    @Test func ifNoMirrorHasTheFileTheMostPreferredErrorIsReported() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0).always(.status(410))
        mirrors.serve(1).always(.status(404))
        let manager = try await mirrors.open()
        let task = try await mirrors.end(of: try await mirrors.add(to: manager), in: manager)
        #expect(task.state == .failed && task.error?.httpStatus == 410)
        #expect(mirrors.servers.map(\.requests.count) == [1, 1])
        await manager.shutdown(.suspend)
    }

    @Test func aMirrorWithATransientErrorIsAskedAgain() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0).always(.status(404))
        mirrors.serve(1, faults: [[.status(503)], [.status(503)]])
        let manager = try await mirrors.open()
        let task = try await mirrors.end(of: try await mirrors.add(to: manager), in: manager)
        #expect(task.state == .completed)
        #expect(mirrors.servers.map(\.requests.count) == [3, 3])
        await manager.shutdown(.suspend)
    }

    // MARK: One dies in the middle

    @Test func underADigestAnotherMirrorContinuesABrokenDownload() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0, faults: [[Self.drop]])
        mirrors.serve(1)
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) { $0.checksum = MirrorFixture.checksum }
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(Self.right))
        #expect(mirrors.ranges(0) == [nil] && mirrors.ranges(1) == [Self.rest])
        // A tag of another server's says nothing here.
        #expect(mirrors.servers[1].requests[0].header("If-Range") == nil)
        #expect(try await mirrors.changes(of: id, in: manager) == 0)
        await manager.shutdown(.suspend)
    }

    @Test func underTheSameTagAnotherMirrorContinuesABrokenDownload() async throws {
        let mirrors = try await Mirrors(3)
        let version = Mirrors.version(tag: "\"same\"")
        mirrors.serve(0, version, faults: [[Self.drop]])
        mirrors.serve(1)
        mirrors.serve(2, version)
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager)
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(Self.right))
        #expect(mirrors.ranges(0) == [nil] && mirrors.ranges(1) == [Self.rest] && mirrors.ranges(2) == [Self.rest])
        #expect(mirrors.servers[2].requests[0].header("If-Range") == "\"same\"")
        #expect(try await mirrors.changes(of: id, in: manager) == 0)
        await manager.shutdown(.suspend)
    }

    /// Who served it is asked again first; another one's bytes take the place of the kept ones, they do not follow them.
    @Test func withoutProofAnotherMirrorSendsTheWholeAfterWaitingForTheSource() async throws {
        let mirrors = try await Mirrors()
        let other = Mirrors.version(tag: "\"m1\"", seed: 2)
        mirrors.serve(0, faults: [[Self.drop]]).always(.noAnswer())
        mirrors.serve(1, other)
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) { $0.coalesces = false }
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(other))
        #expect(Set(mirrors.ranges(0)) == [nil, Self.rest] && mirrors.ranges(0).count == 4)
        #expect(mirrors.ranges(1).last == .some(nil))
        #expect(try await mirrors.changes(of: id, in: manager) == 1)
        await manager.shutdown(.suspend)
    }

    @Test func withoutProofAReturningSourceContinuesItsBytes() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0, faults: [[Self.drop], [.status(503)]])
        mirrors.serve(1, Mirrors.version(tag: nil, seed: 2))
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager)
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(Self.right))
        #expect(mirrors.ranges(0) == [nil, Self.rest, Self.rest])
        await manager.shutdown(.suspend)
    }

    /// Gone for good, or the last try: another one sends the whole at once.
    @Test(arguments: [true, false]) func withoutProofAnotherMirrorSendsTheWholeAtOnceIfTheSourceIsLost(isGone: Bool)
        async throws
    {
        let mirrors = try await Mirrors()
        let other = Mirrors.version(tag: "\"m1\"", seed: 2)
        mirrors.serve(0, faults: [[Self.drop]]).always(.status(isGone ? 404 : 503))
        mirrors.serve(1, other)
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) { $0.retry.maxRetries = isGone ? nil : 1 }
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(other))
        #expect(mirrors.ranges(0) == [nil, Self.rest])
        #expect(try await mirrors.changes(of: id, in: manager) == 1)
        await manager.shutdown(.suspend)
    }

    /// `resume: unsafe` is about the versions of one source. Bytes of two are not combined without proof.
    @Test func anUnsafeResumeDoesNotCombineMirrors() async throws {
        let mirrors = try await Mirrors()
        let other = Mirrors.version(tag: "\"m1\"", seed: 2)
        mirrors.serve(0, faults: [[Self.drop]]).always(.status(404))
        mirrors.serve(1, other)
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) { $0.resumesUnsafely = true }
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(other))
        #expect(try await mirrors.changes(of: id, in: manager) == 1)
        await manager.shutdown(.suspend)
    }

    /// A kept response with a wrong digest is not used again: its source is condemned, and the mirror sends the whole.
    @Test func aKeptResponseWithAWrongAnnouncedDigestIsUsedOnce() async throws {
        let mirrors = try await Mirrors()
        let kept = SourceVersion(
            seed: 1, length: Mirrors.length, etag: "\"m0\"",
            headers: [HeaderField(name: "Cache-Control", value: "max-age=3600")])
        mirrors.serve(0, kept).always(.digests(truthful: false))
        mirrors.serve(1)
        let manager = try await mirrors.open()
        let first = try await mirrors.fixture.add("/f", as: "first", to: manager) {
            $0.request.caching = CachingOptions(policy: .reload, stores: true)
            $0.request.announcedDigests = .ignore
        }
        #expect(try await mirrors.end(of: first, in: manager).state == .completed)
        let id = try await mirrors.add(to: manager) { $0.request.caching = CachingOptions(policy: .protocol) }
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(Self.right))
        #expect(mirrors.ranges(0) == [nil] && mirrors.ranges(1) == [nil])
        #expect(try await mirrors.discards(of: id, in: manager) == 1)
        await manager.shutdown(.suspend)
    }

    /// The mirror cannot continue the bytes; it is asked for the whole, and what it sends then is counted.
    @Test(arguments: [true, false]) func aShorterOrUnmeasuredVersionOfTheOnlyMirrorIsConfirmedByTheThirdAnswer(
        isShorter: Bool
    ) async throws {
        let mirrors = try await Mirrors()
        let other = Mirrors.version(tag: "\"m1\"", seed: 2, length: isShorter ? 50_000 : 350_000)
        mirrors.serve(0, faults: [[Self.drop]]).always(.status(404))
        let served = mirrors.serve(1, other)
        if !isShorter { served.always(.chunked) }
        let manager = try await mirrors.open { $0.retry = RetryPolicy(base: .milliseconds(1), cap: .milliseconds(1)) }
        let id = try await mirrors.add(to: manager)
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(other))
        let wholes = mirrors.ranges(1).filter { $0 == nil }
        #expect(wholes.count == SuspectRules.sightings && mirrors.ranges(1).last == .some(nil))
        #expect(try await mirrors.changes(of: id, in: manager) == 1)
        await manager.shutdown(.suspend)
    }

    // MARK: Mirrors that disagree

    /// Under a digest, one of another length has nothing to add.
    @Test func aMirrorOfAnotherLengthDoesNotContinue() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0, faults: [[Self.drop]])
        mirrors.serve(1, Mirrors.version(tag: "\"m1\"", length: Mirrors.length + 1))
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) { $0.checksum = MirrorFixture.checksum }
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(Self.right))
        #expect(mirrors.ranges(0) == [nil, Self.rest] && mirrors.ranges(1) == [Self.rest])
        #expect(try await mirrors.changes(of: id, in: manager) == 0)
        await manager.shutdown(.suspend)
    }

    @Test func aMirrorWithoutRangesDoesNotContinue() async throws {
        let mirrors = try await Mirrors(3)
        mirrors.serve(0, faults: [[Self.drop]]).always(.status(404))
        mirrors.serve(1).always(.ignoreRange)
        mirrors.serve(2)
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) { $0.checksum = MirrorFixture.checksum }
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(Self.right))
        #expect(mirrors.ranges(1) == [Self.rest] && mirrors.ranges(2) == [Self.rest])
        await manager.shutdown(.suspend)
    }

    @Test func aFileWithAWrongDigestIsFetchedFromAnotherMirror() async throws {
        let mirrors = try await Mirrors(3)
        mirrors.serve(0, Mirrors.version(tag: "\"m0\"", seed: 2))
        mirrors.serve(1, Mirrors.version(tag: "\"m1\"", seed: 3, length: 5))
        mirrors.serve(2)
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) {
            $0.checksum = MirrorFixture.checksum
            $0.retry = RetryLimits(maxRetries: 0, retryFor: 0)
        }
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(Self.right))
        #expect(mirrors.servers.map(\.requests.count) == [1, 1, 1])
        #expect(try await mirrors.discards(of: id, in: manager) == 2)
        await manager.shutdown(.suspend)
    }

    @Test func ifEveryMirrorSendsAWrongDigestTheTaskFails() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0, Mirrors.version(tag: "\"m0\"", seed: 2))
        mirrors.serve(1, Mirrors.version(tag: "\"m1\"", seed: 3))
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) { $0.checksum = MirrorFixture.checksum }
        let task = try await mirrors.end(of: id, in: manager)
        #expect(task.state == .failed && task.error?.reason == .checksumMismatch)
        // After the first wrong digest caches are passed by, and each is asked once more.
        #expect(mirrors.servers.map(\.requests.count) == [2, 2])
        #expect(
            mirrors.servers.map { $0.requests.map { $0.header("Cache-Control") } } == [
                [nil, "no-cache"], ["no-cache", "no-cache"],
            ])
        try await eventually("nothing is left over") { try mirrors.fixture.files().isEmpty }
        await manager.shutdown(.suspend)
    }

    /// Two halves that do not fit: afterwards each sends the whole alone.
    @Test func aWrongMixtureIsFetchedFromEachMirrorAlone() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0, Mirrors.version(tag: "\"m0\"", seed: 2), faults: [[Self.drop]])
        mirrors.serve(1)
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) { $0.checksum = MirrorFixture.checksum }
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(Self.right))
        #expect(mirrors.ranges(0) == [nil, nil] && mirrors.ranges(1) == [Self.rest, nil])
        await manager.shutdown(.suspend)
    }

    // MARK: What a later run knows

    @Test func aRestartContinuesOnTheMirrorThatSentTheKeptBytes() async throws {
        let mirrors = try await Mirrors()
        let gate = Gate()
        mirrors.serve(0, Mirrors.version(tag: "\"m0\"", seed: 2)).always(.status(503))
        mirrors.serve(1, faults: [[.stall(at: Mirrors.cut, until: gate)]])
        var manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager)
        try await eventually("bytes have come") {
            await manager.queries.progress(of: [id])[id]?.received == Mirrors.cut
        }
        await manager.shutdown(.suspend)
        gate.open()
        manager = try await mirrors.open()
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(Self.right))
        #expect(mirrors.ranges(0) == [nil] && mirrors.ranges(1) == [nil, Self.rest])
        await manager.shutdown(.suspend)
    }

    /// Without the digest nothing shows that the halves fit.
    @Test func aMixtureWhoseDigestIsNoLongerDemandedStartsOver() async throws {
        let mirrors = try await Mirrors()
        let gate = Gate()
        mirrors.serve(0, faults: [[Self.drop]])
        mirrors.serve(1, faults: [[.stall(at: Mirrors.cut, until: gate)]])
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) { $0.checksum = MirrorFixture.checksum }
        try await eventually("the second one sends") {
            await manager.queries.progress(of: [id])[id]?.received == 2 * Mirrors.cut
        }
        _ = try await manager.tasks.apply(.pause, to: [id], for: ManagerFixture.caller)
        try await eventually("the run is over") { await manager.scheduler.runs[id] == nil }
        gate.open()
        let kept = try await manager.queries.task(id, for: ManagerFixture.caller)
        #expect(kept.received == 2 * Mirrors.cut)
        _ = try await manager.tasks.update(id, .changing { $0.checksum = .clear }, for: ManagerFixture.caller)
        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(try mirrors.holds(Self.right))
        #expect(mirrors.ranges(0) == [nil, nil])
        await manager.shutdown(.suspend)
    }

    // MARK: The property

    /// Each of them lies in its own way; together they send one version of one of them.
    @Test func aFileFromLyingMirrorsIsOneVersion() async throws {
        let fixture = try await ManagerFixture()
        let servers = [fixture.server, try await FaultServer(), try await FaultServer()]
        let manager = try await fixture.open(change: { ($0.maxActive, $0.maxActivePerHost) = (8, 8) })
        try await manager.start()
        var tasks: [(id: TaskID, liars: [LyingServer])] = []
        for seed in 0..<UInt64(40) {
            let liars = (0..<3).map { LyingServer(seed: seed * 3 + 1000 + $0, maxLength: 100_000, truthfulAfter: 8) }
            for (server, liar) in zip(servers, liars) { server.serve("/\(seed)", liar) }
            let urls = servers.map { $0.url("/\(seed)") }
            let directory = fixture.downloads
            let draft = TaskDraft(url: urls[0], mirrors: Array(urls.dropFirst())) { request in
                var specification = TaskSpecification(
                    owner: ManagerFixture.caller.owner, request: request,
                    destination: Destination(directory: directory, name: "\(seed)"))
                specification.request.timeouts.idle = 5
                return specification
            }
            tasks.append((try await manager.tasks.add([draft], for: ManagerFixture.caller)[0].id, liars))
        }
        var completed = 0
        for (index, task) in tasks.enumerated() {
            // Waits before further tries are cut short.
            let ended = try await eventually("task \(task.id) ends", within: Patience.long) {
                let found = try await manager.queries.task(task.id, for: ManagerFixture.caller)
                if found.state == .waiting {
                    _ = try await manager.tasks.apply(.resume, to: [task.id], for: ManagerFixture.caller)
                }
                return found.state.isTerminal ? found : nil
            }
            guard ended.state == .completed else { continue }
            completed += 1
            let bytes = try FileTree.read("\(fixture.downloads)/\(index)")
            #expect(task.liars.contains { $0.isOneVersion(bytes) }, "\(task.liars)")
        }
        #expect(completed > 20)
        await manager.shutdown(.suspend)
    }
}
