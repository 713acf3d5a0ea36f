import CCurl
import NIOConcurrencyHelpers
import XferModel

/// The cookies of one profile, or of one attempt: libcurl's (RFC 6265), shared by all requests that use the jar, on any
/// loop.
///
/// `@unchecked Sendable`: libcurl reads shared data under the share's locks only, and `easy` is used on one loop alone.
final class CookieJar: @unchecked Sendable {
    let share: UnsafeMutableRawPointer
    private let locks = ShareLocks()
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
        xfer_share_set_locks(
            share, curlLockCallback, curlUnlockCallback, Unmanaged.passUnretained(locks).toOpaque())
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

    /// All cookies, in the Netscape format. Expired ones are removed when the jar is used next.
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

/// The cookies of a request.
struct CookieUse {
    let jar: CookieJar
    /// The client's own `Cookie` field: appended to the jar's cookies in the single field (RFC 6265 §5.4).
    var own: String?
}

extension Hop {
    /// Removes the client's own cookies from the fields when a jar is used: libcurl appends them to the jar's.
    ///
    /// With a `Host` field of the client's own no cookies are sent, since it would choose whose cookies they are.
    func separateCookies() -> CookieUse? {
        guard sentFields.firstValue(named: "Host") == nil,
            let jar = run.ownCookies ?? run.attempt.cookieJar.flatMap({ run.core.shared.jar(named: $0) })
        else { return nil }
        let own = sentFields.filter { $0.name.equalsIgnoringASCIICase("Cookie") }.map(\.value)
        sentFields.removeAll { $0.name.equalsIgnoringASCIICase("Cookie") }
        return CookieUse(jar: jar, own: own.isEmpty ? nil : own.joined(separator: "; "))
    }
}

extension EasyHandle {
    /// Nil: the handle neither sends nor keeps cookies. libcurl's reset would leave an earlier request's jar set.
    func setCookies(_ cookies: CookieUse?) {
        // Disables cookies; otherwise the handle would continue with a jar of its own as long as a file is named, even
        // "".
        set(CURLOPT_COOKIEFILE, pointer: nil)
        set(CURLOPT_SHARE, pointer: cookies?.jar.share)
        jar = cookies?.jar
        guard let cookies else { return }
        // Without it libcurl does not use a shared jar.
        set(CURLOPT_COOKIEFILE, "")
        if let own = cookies.own { set(CURLOPT_COOKIE, own) }
    }
}

extension EngineLoop {
    func addCookies(_ lines: [String], to jar: String) { core.shared.jar(named: jar)?.add(lines) }

    func cookies(in jar: String) -> [String] { core.shared.jar(named: jar)?.lines ?? [] }

    func replaceCookies(in jar: String, by lines: [String]) {
        guard let jar = core.shared.jar(named: jar) else { return }
        jar.removeAll()
        jar.add(lines)
    }
}

/// The locks of what libcurl's handles share (CURLSHOPT_LOCKFUNC(3)): one for the share itself, one for the cookies.
final class ShareLocks: Sendable {
    private let share = NIOLock()
    private let cookies = NIOLock()

    func lock(for data: curl_lock_data) -> NIOLock { data == CURL_LOCK_DATA_COOKIE ? cookies : share }
}

// libcurl's entry points; see CurlCallbacks.swift. The context belongs to the jar, which outlives its share.

/// CURLSHOPT_LOCKFUNC.
func curlLockCallback(
    _ easy: UnsafeMutableRawPointer?, _ data: curl_lock_data, _ access: curl_lock_access,
    _ context: UnsafeMutableRawPointer?
) {
    guard let context else { return }
    Unmanaged<ShareLocks>.fromOpaque(context).takeUnretainedValue().lock(for: data).lock()
}

/// CURLSHOPT_UNLOCKFUNC.
func curlUnlockCallback(
    _ easy: UnsafeMutableRawPointer?, _ data: curl_lock_data, _ context: UnsafeMutableRawPointer?
) {
    guard let context else { return }
    Unmanaged<ShareLocks>.fromOpaque(context).takeUnretainedValue().lock(for: data).unlock()
}
