import Testing
import XferModel
import XferTestSupport

@testable import XferManager

@Suite struct LifetimeTests {
    private struct Reference {
        weak var manager: TransferManager?
    }

    @Test func aManagerThatHasWorkedAndWasShutDownIsFreed() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/f", .tagged(90, length: 50_000))
        let reference = try await work(fixture)
        try await eventually("the manager is freed") { reference.manager == nil }
    }

    private func work(_ fixture: ManagerFixture) async throws -> Reference {
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
        return Reference(manager: manager)
    }
}
