import Testing
import XferModel
import XferTestSupport

/// curl's unit test 1614: hosts that are reached without the proxy. The numbers count its kinds of entries.
@Suite struct NoProxyConformanceTests {
    struct Subject: Sendable {
        var host: String
        var exceptions: [String]
        var isDirect: Bool

        init(_ host: String, _ exceptions: [String], _ isDirect: Bool) {
            (self.host, self.exceptions, self.isDirect) = (host, exceptions, isDirect)
        }
    }

    static let cases: [ConformanceCase<Subject>] = [
        .same("curl 1614-name-below", Subject("mail.corp.test", ["localhost", ".corp.test"], true)),
        .same("curl 1614-name-itself", Subject("corp.test", ["localhost", ".corp.test"], true)),
        .same("curl 1614-root-of-host", Subject("mail.corp.test.", [".corp.test"], true)),
        .same("curl 1614-root-of-entry", Subject("mail.corp.test", [".corp.test."], true)),
        .same("curl 1614-without-dot", Subject("corp.test", ["corp.test"], true)),
        .same("curl 1614-case", Subject("corp.test", ["CORP.test"], true)),
        .same("curl 1614-same-end", Subject("acorp.test", [".corp.test", "corp.test"], false)),
        .same("curl 1614-other-name", Subject("mail.corp.test", ["web.corp.test", "corp.example"], false)),
        .same("curl 1614-one-label", Subject("printer", ["scanner", "printer"], true)),
        .same("curl 1614-address", Subject("198.51.100.7", ["corp.test", "198.51.100.7"], true)),
        .same("curl 1614-block-16", Subject("198.51.100.7", ["198.51.0.0/16"], true)),
        .same("curl 1614-block-24", Subject("198.51.101.7", ["198.51.100.0/24"], false)),
        .same("curl 1614-block-32", Subject("198.51.100.7", ["198.51.100.0/32"], false)),
        .same("curl 1614-block-0", Subject("198.51.100.7", ["0.0.0.0/0"], true)),
        .same("curl 1614-block-33", Subject("198.51.100.7", ["198.51.100.7/33"], false)),
        .same("curl 1614-network-alone", Subject("198.51.100.7", ["198.51.100.0"], false)),
        .same("curl 1614-address6", Subject("[2001:db8::7]", ["2001:db8:0:0::7"], true)),
        .same("curl 1614-block6", Subject("[2001:db8::7]", ["corp.test", "2001:db8::/64"], true)),
        .same("curl 1614-other-family", Subject("[2001:db8::7]", ["198.51.100.0/24"], false)),
        .same("curl 1614-all", Subject("mail.corp.test", ["*"], true)),
        .same("curl 1614-none", Subject("mail.corp.test", [], false)),
    ]

    @Test(arguments: cases) func aHostIsReachedDirectlyAsTheSuiteExpects(test: ConformanceCase<Subject>) {
        #expect(ProxyExceptions.contain(test.subject.host, in: test.subject.exceptions) == test.subject.isDirect)
    }

    /// A list is read by the command line and the environment; an entry that is none is refused there.
    @Test(arguments: ["198.51.100.7/33", "a b", ""]) func anEntryThatMatchesNothingIsRefused(text: String) {
        #expect(!ProxyExceptions.isValid(text))
    }
}
