/// A decision about a redirect.
public enum RedirectDecision: String, Sendable, Codable, CaseIterable {
    case followed
    /// The request's options do not allow it: the attempt fails.
    case refused
    /// The redirect is not followed, and its response is the result.
    case delivered
    /// No redirect of the server's: the host has demanded https (RFC 6797), and the `http` URL is not requested.
    case upgraded
}
