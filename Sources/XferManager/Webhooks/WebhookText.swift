import XferCurl
public import XferModel

/// Reads the parts of webhooks from text.
public enum WebhookText {
    /// A receiver's URL.
    public static func url(_ text: String) throws(WebhookTextError) -> HTTPURL {
        let parsed: CurlURL.Parsed
        do throws(URLSyntaxError) {
            parsed = try CurlURL.parse(text)
        } catch {
            throw WebhookTextError(description: error.description)
        }
        guard parsed.credential == nil else {
            throw WebhookTextError(
                description: "user info in it, which is not sent; the receiver checks the signature made with secret")
        }
        return parsed.url
    }
}

/// The reason why a webhook's URL is invalid. It repeats no part of the URL.
public struct WebhookTextError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}
