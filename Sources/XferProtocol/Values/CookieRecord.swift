import StrictJSON
public import XferModel

/// A cookie of a task's own. When shown, its value is `***`.
public struct CookieRecord: WireInput, Hashable {
    public var domain = ""
    public var includeSubdomains: Bool?
    public var path: String?
    public var secure: Bool?
    public var expires: Int64?
    public var name = ""
    public var value = ""

    public init() {}

    public init(_ cookie: RequestCookie) {
        domain = cookie.domain
        includeSubdomains = cookie.includesSubdomains ? true : nil
        path = cookie.path == "/" ? nil : cookie.path
        secure = cookie.isSecure ? true : nil
        expires = cookie.expires == 0 ? nil : cookie.expires
        name = cookie.name
        value = cookie.value
    }

    /// The cookie in the form in which it is shown.
    public init(masking cookie: RequestCookie) {
        self.init(cookie)
        value = Redaction.mask
    }

    public static let summary = "A cookie and the servers to which it is sent; its value is *** when shown."
    public static let wireFields: WireFields<Self> = [
        .required(
            "domain", \.domain, "The host to which the cookie is sent.", .length(1...255), example: "example.org"),
        .optional(
            "include_subdomains", \.includeSubdomains,
            "True if the cookie is also sent to the host's subdomains; default false."),
        .optional(
            "path", \.path, "The path to which the cookie is sent, with all paths below it; default /.",
            .length(1...1024)),
        .optional("secure", \.secure, "True if the cookie is sent over https only; default false."),
        .optional(
            "expires", \.expires, "Expiry in seconds since 1970; 0, the default, is never.",
            .range(0...RequestCookie.latestExpiry)),
        .required("name", \.name, "Its name.", .length(1...RequestCookie.maxSize)),
        .required("value", \.value, "Its value.", .length(0...RequestCookie.maxSize)),
    ]

    public var cookie: RequestCookie {
        RequestCookie(
            domain: domain.lowercased(), includesSubdomains: includeSubdomains ?? false, path: path ?? "/",
            isSecure: secure ?? false, expires: expires ?? 0, name: name, value: value)
    }

    public func validate() throws(WireError) {
        guard let problem = cookie.problem else { return }
        throw WireError(.invalidValue, at: problem.field, expected: problem.expected)
    }
}
