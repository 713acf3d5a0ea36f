import Testing
import XferCore
import XferModel

/// SDWebImage's exclusions, and ours.
@Suite struct FailedURLRulesTests {
    private static func lists(_ error: TransferError, isAuthentic: Bool = true) -> Bool {
        FailedURLRules.lists(error, of: RefusalTests.task().specification, isAuthentic: isAuthentic)
    }

    @Test(arguments: 100...599) func onlyStatusCodesThatConcernTheURLListIt(status: Int) {
        let lists = (400...499).contains(status) && ![401, 403, 408, 416, 423, 425, 429].contains(status)
        for host in [nil, "files.example"] {
            #expect(Self.lists(TransferError(.httpStatus, "", httpStatus: status, host: host)) == lists)
        }
        // Neither is a proxy's or a login's answer about the URL, nor that of another server behind a redirect.
        #expect(!Self.lists(TransferError(.authFailed, "", httpStatus: status)))
        #expect(!Self.lists(TransferError(.httpStatus, "", httpStatus: status, host: "mirror.example")))
        // Nor what a portal may have answered in the server's place.
        #expect(!Self.lists(TransferError(.httpStatus, "", httpStatus: status), isAuthentic: false))
    }

    /// No network, cancelled, timed out, host not found, cannot connect, connection lost, trust, checksum, disk, …
    @Test(arguments: FailureReason.allCases) func ofAllReasonsOnlyTooManyRedirectsListsAURL(reason: FailureReason) {
        #expect(Self.lists(TransferError(reason, "")) == (reason == .tooManyRedirects))
        #expect(!Self.lists(TransferError(reason, "", host: "portal.example")))
        #expect(!Self.lists(TransferError(reason, ""), isAuthentic: false))
    }

    @Test func aRedirectToAnUnsupportedSchemeListsTheURL() {
        let error = TransferError(.protocolError, "redirects to ftp", isRetriable: false, httpStatus: 302)
        #expect(Self.lists(error))
        #expect(!Self.lists(error, isAuthentic: false))
        #expect(!Self.lists(TransferError(.protocolError, "garbage", httpStatus: 302)))
        #expect(!Self.lists(TransferError(.protocolError, "bad coding", isRetriable: false, httpStatus: 200)))
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
