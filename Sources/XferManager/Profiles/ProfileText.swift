import XferCore
import XferCurl
public import XferModel

/// Reads the parts of profiles from text, and checks whole profiles.
public enum ProfileText {
    /// A base URL. A slash is appended to its path if there is none, so that relative URLs are resolved below it, as
    /// AFHTTPSessionManager does it.
    public static func baseURL(_ text: String) throws(ProfileTextError) -> HTTPURL {
        let parsed: CurlURL.Parsed
        do throws(URLSyntaxError) {
            parsed = try CurlURL.parse(text)
        } catch {
            throw ProfileTextError(field: "base_url", description: error.description)
        }
        if parsed.credential != nil {
            throw ProfileTextError(field: "base_url", description: "user info in it; a credential has its own field")
        }
        let url = parsed.url
        if url.target.contains("?") {
            throw ProfileTextError(field: "base_url", description: "a query in it, which relative URLs would lose")
        }
        let target = url.target.hasSuffix("/") ? url.target : url.target + "/"
        return HTTPURL(scheme: url.scheme, host: url.host, port: url.port, target: target)
    }

    /// Checks that the profile itself is valid.
    public static func check(_ profile: Profile) throws(ProfileTextError) {
        do throws(RequestFault) {
            try ProfileRules.check(profile)
        } catch {
            let expected = error.expected.map { "; expected \($0)" } ?? ""
            throw ProfileTextError(field: error.field, description: error.reason + expected)
        }
    }
}

/// The reason why a profile is invalid.
public struct ProfileTextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The invalid field, such as `credential.secret`.
    public let field: String
    public let description: String

    public init(field: String, description: String) {
        self.field = field
        self.description = description
    }
}
