import CCurl
import XferModel

/// The cookies of one profile: libcurl's (RFC 6265), shared by all requests that use the jar.
///
/// Confined to the loop's thread, so that the share needs no locks.
final class CookieJar {
    let share: UnsafeMutableRawPointer
    /// Sends nothing: cookies are put in and read through it.
    private let easy: UnsafeMutableRawPointer

    /// Nil without memory.
    init?() {
        guard let share = curl_share_init() else { return nil }
        guard xfer_share_cookies(share) == CURLSHE_OK, let easy = curl_easy_init() else {
            curl_share_cleanup(share)
            return nil
        }
        self.share = share
        self.easy = easy
        xfer_easy_set_pointer(easy, CURLOPT_SHARE, share)
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_share_cleanup(share)
    }

    /// Puts cookies in, in the Netscape format.
    func add(_ lines: [String]) {
        for line in lines { xfer_easy_set_string(easy, CURLOPT_COOKIELIST, line) }
    }

    func removeAll() { xfer_easy_set_string(easy, CURLOPT_COOKIELIST, "ALL") }

    /// All cookies, in the Netscape format. What has expired goes when the jar is used next.
    var lines: [String] {
        var first: UnsafeMutableRawPointer?
        guard xfer_easy_get_pointer(easy, CURLINFO_COOKIELIST, &first) == CURLE_OK, let first else { return [] }
        let list = first.assumingMemoryBound(to: curl_slist.self)
        defer { curl_slist_free_all(list) }
        var lines: [String] = []
        var next: UnsafeMutablePointer<curl_slist>? = list
        while let node = next {
            if let data = node.pointee.data { lines.append(String(cString: data)) }
            next = node.pointee.next
        }
        return lines
    }
}

/// What a request has to do with cookies.
struct CookieUse {
    let jar: CookieJar
    /// The client's own `Cookie` field: it goes behind the jar's in the one field there may be (RFC 6265 §5.4).
    var own: String?
}

extension Exchange {
    /// Takes the client's own cookies out of the fields when a jar is used: libcurl writes them behind the jar's.
    ///
    /// A `Host` field of the client's own would choose whose cookies are sent: then none are.
    func takeCookies() -> CookieUse? {
        guard let name = run.attempt.cookieJar, sentFields.firstValue(named: "Host") == nil,
            let jar = run.core.jar(named: name)
        else { return nil }
        let own = sentFields.filter { $0.name.equalsIgnoringASCIICase("Cookie") }.map(\.value)
        sentFields.removeAll { $0.name.equalsIgnoringASCIICase("Cookie") }
        return CookieUse(jar: jar, own: own.isEmpty ? nil : own.joined(separator: "; "))
    }
}

extension EasyHandle {
    /// With nil the handle neither sends nor keeps any; libcurl's reset leaves an earlier request's jar where it was.
    func setCookies(_ cookies: CookieUse?) {
        // Switches cookies off; the handle would go on with a jar of its own as long as a file is named, if only by "".
        set(CURLOPT_COOKIEFILE, pointer: nil)
        set(CURLOPT_SHARE, pointer: cookies?.jar.share)
        jar = cookies?.jar
        guard let cookies else { return }
        // Without it a shared jar is there, and not used.
        set(CURLOPT_COOKIEFILE, "")
        if let own = cookies.own { set(CURLOPT_COOKIE, own) }
    }
}

extension TransferEngine {
    /// Puts cookies into the jar of that name, which is made if there is none. Netscape format, as `cookies` answers them.
    public func addCookies(_ lines: [String], to jar: String) { core.jar(named: jar)?.add(lines) }

    /// The jar's cookies, one line each: domain, whether those below it get it, path, whether only
    /// https gets it, expiry (seconds since 1970, 0 with the session), name and value, between tabs.
    public func cookies(in jar: String) -> [String] { core.jar(named: jar)?.lines ?? [] }

    /// Leaves only these cookies in the jar.
    public func replaceCookies(in jar: String, by lines: [String]) {
        guard let jar = core.jar(named: jar) else { return }
        jar.removeAll()
        jar.add(lines)
    }

    /// Forgets the jar; attempts that use it go on with what it was.
    public func forgetCookies(in jar: String) { core.forgetJar(named: jar) }
}
