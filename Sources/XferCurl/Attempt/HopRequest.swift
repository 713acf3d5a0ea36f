import XferCore
import XferModel

/// The request of one hop: a redirect changes the URL, perhaps the method, and with it the content.
struct HopRequest {
    var url: HTTPURL
    var method: HTTPMethod
    /// The request's content; nil for methods without content. Dropped when a redirect changes the method.
    var content: RequestContent?
    var plan: RequestPlan
    /// Whether no connection that was used before may carry it; see `HopConnection.isStale`.
    var needsNewConnection = false
}
