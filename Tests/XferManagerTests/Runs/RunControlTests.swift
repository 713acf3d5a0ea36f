import Testing
import XferModel

@testable import XferCurl
@testable import XferManager

/// Attempts that begin while their run is being stopped, or ends by itself.
@Suite struct RunControlTests {
    private let control = RunControl(kind: .upload)

    private func attempt(_ number: UInt64) -> AttemptHandle {
        AttemptHandle(
            id: AttemptID(loop: 0, number: number), events: AttemptEvents(),
            progress: AttemptProgress(offset: 0, total: nil))
    }

    @Test func anAttemptThatBeginsAfterARequestToStopIsRefused() {
        #expect(control.begin(attempt(1)))
        #expect(control.requestStop().map(\.id) == [attempt(1).id])
        #expect(!control.begin(attempt(2)))
    }

    @Test func anAttemptThatBeginsAfterItsRunHasBegunToEndIsRefused() {
        #expect(control.begin(attempt(1)) && !control.isEnding)
        #expect(control.endAttempts().map(\.id) == [attempt(1).id])
        #expect(control.isEnding && !control.isStopRequested)
        #expect(!control.begin(attempt(2)))
        #expect(control.attempts.count == 2, "both are live until they have ended")
    }
}
