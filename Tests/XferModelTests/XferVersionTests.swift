import Testing
import XferModel

@Suite struct XferVersionTests {
    @Test(arguments: [("", "~dev"), ("dev+", ""), ("0123abc", " (0123abc)"), ("dev+0123abc", "~dev+0123abc")])
    func theVersionSaysWhetherItsCommitIsARelease(commit: String, suffix: String) {
        #expect(XferVersion.text(commit: commit) == XferVersion.current + suffix)
    }
}
