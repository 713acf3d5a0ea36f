import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

@Suite struct TrustAnchorsTests {
    @Test func theSystemsBundleIsRead() throws {
        #expect(try TrustAnchors().refresh() == 1)
    }

    @Test func aChangedFileIsReadAgainAndAnUnchangedOneIsNot() throws {
        let fixture = try TrustFixture()
        let leaf = try fixture.authority.issue().parsed
        let anchors = fixture.evaluator.anchors
        #expect(fixture.judge([leaf], .builtInDefault).isAccepted)
        #expect(try anchors.refresh() == 1)
        #expect(try anchors.refresh() == 1)
        try FileTree.write(TestCA().pem, to: anchors.file)
        #expect(fixture.judge([leaf], .builtInDefault).failure?.reason == .trustRejected)
        #expect(try anchors.refresh() == 2)
        try FileTree.write(TestCA().pem + fixture.authority.pem, to: anchors.file)
        #expect(fixture.judge([leaf], .builtInDefault).isAccepted)
    }

    @Test func withoutAReadableAnchorFileNoServerIsTrusted() throws {
        let fixture = try TrustFixture()
        let leaf = try fixture.authority.issue().parsed
        for text in [nil, "", "nothing", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            let path = fixture.directory.file("other-\(text?.count ?? -1)")
            if let text { try FileTree.write(text, to: path) }
            let anchors = TrustAnchors(file: path)
            let error = #expect(throws: TrustAnchorsError.self) { try anchors.refresh() }
            #expect(error?.description.contains(path) == true)
            let target = TrustTarget(host: ServerName(host: "localhost"), port: 443, policies: .ordinary)
            let verdict = ServerTrustEvaluator(anchors: anchors).evaluate([leaf], for: target)
            #expect(verdict.failure?.problem.contains(path) == true)
        }
    }

    @Test func aFileThatBecomesUnreadableLeavesTheLastOneInForce() throws {
        let fixture = try TrustFixture()
        let leaf = try fixture.authority.issue().parsed
        let anchors = fixture.evaluator.anchors
        #expect(fixture.judge([leaf], .builtInDefault).isAccepted)
        try FileTree.write("half a bundl", to: anchors.file)
        #expect(fixture.judge([leaf], .builtInDefault).isAccepted)
        FileTree.remove(anchors.file)
        #expect(fixture.judge([leaf], .builtInDefault).isAccepted)
        try FileTree.write(TestCA().pem, to: anchors.file)
        #expect(!fixture.judge([leaf], .builtInDefault).isAccepted)
    }

    /// As libcurl's own check has it: whatever is in the bundle is an anchor.
    @Test func anIntermediateInTheBundleIsAnAnchor() throws {
        let fixture = try TrustFixture()
        let via = try fixture.authority.intermediate()
        let leaf = try via.issue().parsed
        #expect(!fixture.judge([leaf], .builtInDefault).isAccepted)
        try FileTree.write(via.certificate.certificate, to: fixture.evaluator.anchors.file)
        #expect(fixture.judge([leaf], .builtInDefault).isAccepted)
    }
}
