/// Why a text is not a URL that can be fetched.
public enum URLSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case tooLong(limit: Int)
    case controlCharacter
    case whitespace
    case noScheme
    case unsupportedScheme(String)
    case noHost
    case badHost
    case badPort
    case malformed(String)

    /// A sentence without the text itself, which may hold secrets.
    public var description: String {
        switch self {
        case .empty: "the URL is empty"
        case .tooLong(let limit): "the URL is longer than \(limit) bytes"
        case .controlCharacter: "the URL contains a control character"
        case .whitespace: "the URL contains white space; write it as %20"
        case .noScheme: "the URL has no scheme, expected http:// or https://"
        case .unsupportedScheme(let scheme): "scheme \"\(scheme)\" is not supported, expected http or https"
        case .noHost: "the URL has no host"
        case .badHost: "the URL's host name is not valid"
        case .badPort: "the URL's port is not a number from 1 to 65535"
        case .malformed(let detail): "the URL is malformed: \(detail)"
        }
    }
}
