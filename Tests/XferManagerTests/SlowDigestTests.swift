import Glibc
import NIOConcurrencyHelpers
import Testing
import XferFiles
import XferModel
import XferTestSupport

@testable import XferManager

/// Parsing and hashing delay no other transfer (AFURLSessionManager's processing queue).
@Suite struct SlowDigestTests {
    @Test func slowDigestsDoNotDelayOtherTransfers() async throws {
        let fixture = try await ManagerFixture()
        let version = SourceVersion.tagged(70, length: 100_000)
        fixture.server.serve("/a", version)
        fixture.server.serve("/checked", version)
        let manager = try await fixture.open()
        try await manager.start()
        // Digests that take as long as the test likes, on every thread there is for them.
        let gate = ThreadGate()
        let pool = try fixture.digestPool(of: manager)
        async let slow: Void = gate.hold(pool)
        // Declared after `slow`, so that it comes first: the threads end when it is open.
        defer { gate.open() }
        await gate.arrived(2)

        let checked = try await fixture.add("/checked", as: "checked", to: manager) {
            $0.checksum = version.checksum()
            // No brief run.
            $0.request.allowsMetered = false
        }
        try await eventually("its bytes are there") { fixture.server.requests.count == 1 }
        for index in 0..<10 {
            let id = try await fixture.add("/a", as: "f\(index)", to: manager)
            #expect(try await fixture.end(of: id, in: manager).state == .completed)
        }
        #expect(try await manager.queries.task(checked, for: ManagerFixture.caller).state == .running)
        gate.open()
        #expect(try await fixture.end(of: checked, in: manager).state == .completed)
        await slow
        await manager.shutdown(.suspend)
    }
}
