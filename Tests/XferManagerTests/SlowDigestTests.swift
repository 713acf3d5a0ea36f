import Glibc
import NIOConcurrencyHelpers
import Testing
import XferFiles
import XferModel
import XferTestSupport

@testable import XferManager

/// Parsing and hashing are nobody else's wait (AFURLSessionManager's processing queue).
@Suite struct SlowDigestTests {
    @Test func slowDigestsHoldUpNoOtherTransfer() async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(70, length: 100_000)
        fixture.server.serve("/a", version)
        let manager = try await fixture.open()
        try await manager.start()
        // Digests that take as long as the test likes, on every thread there is for them.
        let (isDone, begun) = (NIOLockedValueBox(false), NIOLockedValueBox(0))
        defer { isDone.withLockedValue { $0 = true } }
        let digests = manager.services.digests
        async let slow: Void = withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    await digests.run {
                        begun.withLockedValue { $0 += 1 }
                        while !isDone.withLockedValue({ $0 }) { usleep(1000) }
                    }
                }
            }
        }
        try await eventually("digests are computed") { begun.withLockedValue { $0 } > 0 }

        let checked = try await fixture.add("/a", as: "checked", to: manager) { $0.checksum = version.checksum() }
        try await eventually("its bytes are there") { fixture.server.requests.count == 1 }
        for index in 0..<10 {
            let id = try await fixture.add("/a", as: "f\(index)", to: manager)
            #expect(try await fixture.end(of: id, in: manager).state == .completed)
        }
        #expect(try await manager.task(checked, for: ManagerFixture.caller).state == .running)
        isDone.withLockedValue { $0 = true }
        #expect(try await fixture.end(of: checked, in: manager).state == .completed)
        await slow
        await manager.shutdown(.suspend)
    }
}
