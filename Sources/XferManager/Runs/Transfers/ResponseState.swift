import XferCore
import XferCurl
import XferModel

/// What is known of the response whose body is arriving.
///
/// Invariant: `head` is nil while no response is accepted, so that a member that joins late never gets the head of an
/// earlier response.
struct ResponseState {
    /// The head as reported to the members; nil while no body is arriving.
    private(set) var head: ResponseUpdate?
    private var headCount = 0
    /// The conditional header fields of the last attempt, if it requested the whole body.
    var conditions: [HeaderField] = []
    /// Whether the response of the current attempt was accepted: its bytes follow those in the partial file or replace
    /// them.
    var isAccepted = false
    /// Whether the current attempt resumes without a validator, because a digest will verify the result.
    var isJoinUnproven = false
    /// When the last attempt began, and when its response head arrived.
    var times = ExchangeTimes(asked: Timestamp(microseconds: 0), answered: Timestamp(microseconds: 0))

    /// Sets the head of a new response. Returns it with its number, for the members.
    mutating func setHead(_ head: ResponseHead, from url: HTTPURL?, total: Int64?, isResumed: Bool) -> ResponseUpdate {
        headCount += 1
        let update = ResponseUpdate(
            number: headCount, head: head, url: url, total: total, isResumed: isResumed, times: times)
        self.head = update
        return update
    }

    mutating func removeHead() { head = nil }
}

/// A response head, as reported to the members of a transfer.
struct ResponseUpdate: Sendable {
    /// Distinguishes this head from earlier ones.
    let number: Int
    let head: ResponseHead
    let url: HTTPURL?
    let total: Int64?
    let isResumed: Bool
    let times: ExchangeTimes
}
