import Testing
import XferCore

@testable import XferManager

@Suite struct HostLimitTextTests {
    @Test func limitsOfHostsSurviveTheirText() {
        let limits = [
            "example.org": OriginWindows.HostLimit(connections: 2, requestsPerMinute: 60),
            "[::1]:8080": OriginWindows.HostLimit(requestsPerMinute: 1),
        ]
        #expect(HostLimitText.limits(in: HostLimitText.text(of: limits)) == limits)
        #expect(HostLimitText.text(of: [:]) == nil && HostLimitText.limits(in: nil).isEmpty)
    }

    @Test(arguments: [
        "", "{", "[]", "{\"a\": 1}", "{\"a\": {}}", "{\"a\": {\"connections\": 0}}",
        "{\"a\": {\"connections\": \"2\"}}",
        "{\"a\": {\"connections\": 9223372036854775807, \"requests_per_minute\": -1}}",
    ]) func textThatCannotBeReadSetsNoLimit(text: String) {
        #expect(HostLimitText.limits(in: text).isEmpty)
    }
}
