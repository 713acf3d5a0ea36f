import Testing
import XferCore
import XferModel

/// SDWebImage's exclusions, and ours.
@Suite struct FailedURLRulesTests {
    @Test(arguments: 100...599) func onlyStatusCodesThatConcernTheURLListIt(status: Int) {
        let lists = (400...499).contains(status) && ![401, 403, 408, 423, 425, 429].contains(status)
        #expect(FailedURLRules.lists(TransferError(.httpStatus, "", httpStatus: status)) == lists)
        // A proxy's word, or a login's, is not the URL's.
        #expect(!FailedURLRules.lists(TransferError(.authFailed, "", httpStatus: status)))
    }

    /// No network, cancelled, timed out, host not found, cannot connect, connection lost, trust, checksum, disk, …
    @Test(arguments: FailureReason.allCases) func ofAllReasonsOnlyTooManyRedirectsListsAURL(reason: FailureReason) {
        #expect(FailedURLRules.lists(TransferError(reason, "")) == (reason == .tooManyRedirects))
    }

    @Test func aRedirectToAnUnsupportedSchemeListsTheURL() {
        let error = TransferError(.protocolError, "redirects to ftp", isRetriable: false, httpStatus: 302)
        #expect(FailedURLRules.lists(error))
        #expect(!FailedURLRules.lists(TransferError(.protocolError, "garbage", httpStatus: 302)))
        #expect(!FailedURLRules.lists(TransferError(.protocolError, "bad coding", isRetriable: false, httpStatus: 200)))
    }

    @Test func theWindowIsBoundedBothWays() throws {
        let now = Timestamp(seconds: 1_800_000_000)
        #expect(FailedURLRules.window(timeToLive: 0, at: now) == nil)
        let window = try #require(FailedURLRules.window(timeToLive: 60, at: now))
        #expect(window == Timestamp(seconds: 1_799_999_940)...Timestamp(seconds: 1_800_000_060))
    }

    @Test func aSkippedTaskDoesNotRefuteAnEntry() {
        var outcome = TaskOutcome()
        #expect(FailedURLRules.isRefuted(by: outcome))
        outcome.notModified = true
        #expect(FailedURLRules.isRefuted(by: outcome))
        outcome.skipped = true
        #expect(!FailedURLRules.isRefuted(by: outcome))
    }
}
