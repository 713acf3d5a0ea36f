import Foundation
import Testing
import XferModel

/// The page that is searched for messages names every reason.
@Suite struct TroubleshootingTests {
    @Test func everyReasonOfAFailureAndOfAWaitIsExplained() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/guide/troubleshooting.md"), encoding: .utf8)
        for reason in FailureReason.allCases.map(\.rawValue) + WaitReason.allCases.map(\.rawValue) {
            #expect(page.contains("`\(reason)`"), "\(reason)")
        }
    }
}
