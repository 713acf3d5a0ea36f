import Testing
import XferTestSupport

@testable import XferCurl

/// The kinds of rules of the public suffix list (publicsuffix.org), as its tests exercise them. The names are of stable
/// rules.
@Suite struct PublicSuffixConformanceTests {
    struct Subject: Sendable {
        var domain: String
        var isSuffix: Bool

        init(_ domain: String, _ isSuffix: Bool) { (self.domain, self.isSuffix) = (domain, isSuffix) }
    }

    static let cases: [ConformanceCase<Subject>] = [
        .same("psl one-label", Subject("net", true)),
        .same("psl below-one-label", Subject("xferd.net", false)),
        .same("psl deeper", Subject("a.b.xferd.net", false)),
        .same("psl two-labels", Subject("ac.jp", true)),
        .same("psl below-two-labels", Subject("xferd.ac.jp", false)),
        .same("psl three-labels", Subject("ide.kyoto.jp", true)),
        .same("psl below-three-labels", Subject("xferd.ide.kyoto.jp", false)),
        .same("psl wildcard", Subject("xferd.ck", true)),
        .same("psl below-wildcard", Subject("a.xferd.ck", false)),
        .same("psl wildcard-in-tree", Subject("xferd.kobe.jp", true)),
        .same("psl exception", Subject("www.ck", false)),
        .same("psl exception-in-tree", Subject("city.kobe.jp", false)),
        .same("psl unlisted", Subject("xferd", true)),
        .same("psl below-unlisted", Subject("a.xferd", false)),
        .same("psl private", Subject("github.io", true)),
        .same("psl below-private", Subject("xferd.github.io", false)),
        .same("psl punycode", Subject("xn--p1ai", true)),
        .same("psl below-punycode", Subject("xferd.xn--p1ai", false)),
        .same("psl root", Subject("ac.jp.", true)),
    ]

    @Test(arguments: cases) func aDomainIsAPublicSuffixAsTheListSays(test: ConformanceCase<Subject>) {
        #expect(PublicSuffixes.contains(test.subject.domain) == test.subject.isSuffix)
    }
}
