import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferSystem

/// The cookies of one profile, or of one attempt (RFC 6265), shared by all requests that use the jar, on any loop.
///
/// libcurl's own cookies are never switched on: it treats names that differ only in case as one, and ignores a cookie
/// if any of several `Domain` attributes belongs to another site.
final class CookieJar: Sendable {
    private let cookies = NIOLockedValueBox(CookieStorage())

    /// Puts cookies in, in the Netscape format.
    func add(_ lines: [String]) { cookies.withLockedValue { $0.add(lines: lines) } }

    /// Replaces all cookies.
    func replaceAll(by lines: [String]) {
        var storage = CookieStorage()
        storage.add(lines: lines)
        cookies.withLockedValue { $0 = storage }
    }

    /// All cookies, in the Netscape format. Expired ones are removed when the jar is used next.
    var lines: [String] { cookies.withLockedValue(\.lines) }

    /// Stores the cookies that a response from this URL sets.
    func receive(_ fields: [HeaderField], from url: HTTPURL, at now: Timestamp) {
        cookies.withLockedValue {
            $0.receive(fields, from: url, at: now.wholeSecond, isPublicSuffix: PublicSuffixes.contains)
        }
    }

    /// The cookies for a request to this URL.
    func field(for url: HTTPURL, at now: Timestamp) -> String? {
        cookies.withLockedValue { $0.field(for: url, at: now.wholeSecond) }
    }
}

extension Hop {
    /// The value of the `Cookie` field; nil without cookies of a jar. The client's own `Cookie` field is then removed
    /// from the fields: it follows the jar's cookies in the single field (RFC 6265 §5.4), which libcurl does not sign.
    ///
    /// With a `Host` field of the client's own no cookies are sent, since that field would decide which host's cookies
    /// are sent.
    func separateCookies() -> String? {
        guard !hasOwnHost, let field = run.cookies?.field(for: url, at: Clocks.wall()) else { return nil }
        let own = sentFields.filter { $0.name.equalsIgnoringASCIICase("Cookie") }.map(\.value)
        sentFields.removeAll { $0.name.equalsIgnoringASCIICase("Cookie") }
        return ([field] + own).joined(separator: "; ")
    }

    /// Keeps the cookies that a response sets, unless a proxy answered instead of the server, or the task ignores
    /// cookies.
    func receiveCookies(of head: ResponseHead) {
        guard head.status != 407, !hasOwnHost, !run.attempt.request.refusesCookies,
            head.fields.firstValue(named: "Set-Cookie") != nil
        else { return }
        run.jarForResponse().receive(head.fields, from: url, at: Clocks.wall())
    }

    private var hasOwnHost: Bool { sentFields.firstValue(named: "Host") != nil }
}
