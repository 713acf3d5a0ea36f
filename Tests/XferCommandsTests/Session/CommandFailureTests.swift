import Testing
import XferClient

@testable import XferCommands

@Suite struct CommandFailureTests {
    /// Ctrl-C while a call is under way.
    @Test func anInterruptedCallEndsAsInterrupted() {
        #expect(CommandFailure(ConnectionError.interrupted).status == .interrupted)
        #expect(CommandFailure(CallError.connection(.interrupted)).status == .interrupted)
    }
}
