import Testing
import XferModel
import XferTestSupport

@testable import XferManager

/// `data` tasks that ask the same share the answer; what each makes of it is its own affair.
@Suite struct SharedAnswerTests {
    private let caller = ManagerFixture.caller

    private func add(
        _ path: String, to manager: TransferManager, _ fixture: ManagerFixture,
        _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) async throws -> TaskID {
        let draft = TaskDraft(url: fixture.server.url(path), request: RequestFields(kind: .data)) { request in
            var specification = TaskSpecification(
                owner: ManagerFixture.caller.owner, request: request,
                destination: Destination(directory: fixture.downloads), kind: .data)
            change(&specification)
            return specification
        }
        return try await manager.tasks.add([draft], for: caller)[0].id
    }

    private func bytes(of id: TaskID, _ manager: TransferManager) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let page = try await manager.bytes.result(of: id, offset: Int64(bytes.count), length: 1 << 20, for: caller)
            bytes += page.bytes
            if page.isLast { return bytes }
        }
    }

    /// In memory, and in files.
    @Test(arguments: [200_000, 3_000_000] as [Int64]) func fiveEqualDataTasksMakeOneRequestAndGetFiveAnswers(
        length: Int64
    )
        async throws
    {
        let fixture = try await ManagerFixture()
        let (gate, version) = (Gate(), SourceVersion.tagged(3, length: length))
        fixture.server.serve("/a", version).always(.stall(at: 100_000, until: gate))
        let manager = try await fixture.open()
        try await manager.start()
        var ids: [TaskID] = []
        for _ in 0..<5 { ids.append(try await add("/a", to: manager, fixture)) }
        let picky = try await add("/a", to: manager, fixture) { $0.request.acceptedTypes = ["image/png"] }
        let cancelled = try await add("/a", to: manager, fixture)
        // A file is something else.
        let file = try await fixture.add("/a", as: "a", to: manager)
        try await eventually("bytes have come") {
            let all = ids + [picky, cancelled, file]
            let progress = await manager.queries.progress(of: all)
            return progress.count == all.count && progress.values.allSatisfy { $0.received >= 100_000 }
        }
        _ = try await manager.tasks.apply(.cancel, to: [ids.removeFirst(), cancelled], for: caller)
        gate.open()
        for id in ids {
            let task = try await fixture.end(of: id, in: manager)
            #expect(task.state == .completed && task.received == length, "\(task)")
            #expect(try await bytes(of: id, manager) == version.bytes)
            #expect(
                try await fixture.events(of: id, in: manager)
                    == [.taskAdded, .taskStarted, .taskResponse, .taskCompleted])
        }
        #expect(try await fixture.end(of: picky, in: manager).error?.reason == .unacceptableType)
        #expect(try await fixture.end(of: file, in: manager).state == .completed)
        #expect(fixture.server.requests.count == 2)
        try await eventually("nothing lives") { await manager.scheduler.transfers.isEmpty }
        await manager.shutdown(.suspend)
    }

    @Test func aFailedSharedRequestFollowsEachTasksOwnRetryLimits() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", .tagged(3, length: 1000), faults: [[.drop(after: 500)]])
        let manager = try await fixture.open()
        try await manager.start()
        try await manager.queue.pause(stopsRunning: false)
        let impatient = try await add("/a", to: manager, fixture) {
            $0.retry = RetryLimits(maxRetries: 0, retryFor: 0)
        }
        let patient = try await add("/a", to: manager, fixture)
        try await manager.queue.resume()
        #expect(try await fixture.end(of: impatient, in: manager).state == .failed)
        #expect(try await fixture.end(of: patient, in: manager).state == .completed)
        let events = try await (fixture.events(of: impatient, in: manager), fixture.events(of: patient, in: manager))
        #expect(fixture.server.requests.count == 2, "\(events)")
        await manager.shutdown(.suspend)
    }
}
