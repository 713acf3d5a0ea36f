import StrictJSON

/// Collects the answer to a batch, in the order of the requests and never longer than the limit of one message.
///
/// An answer that does not fit is replaced by error −32600, whose message states that the request was carried out.
struct BatchAnswer {
    private let limit: Int
    private var answers: [[UInt8]?]
    private var bytes = 2
    private var awaited: Int

    /// The number of bytes reserved for each outstanding answer: enough for an error, apart from its id.
    private static let reserve = 256

    /// Creates the answer to a batch of `count` requests.
    init(count: Int, limit: Int) {
        self.limit = limit
        answers = Array(repeating: nil, count: count)
        awaited = count
    }

    /// Sets the answer to the request at `index`; nil for a notification.
    mutating func set(_ answer: [UInt8]?, at index: Int, id: JSONValue) {
        awaited -= 1
        guard var answer else { return }
        if bytes + answer.count + 1 + awaited * Self.reserve > limit, answer.count > Self.reserve {
            answer = RPCAnswer.error(RPCAnswer.tooLarge(limit: limit), id: id)
        }
        bytes += answer.count + 1
        answers[index] = answer
    }

    /// The answer to the batch; nil if the batch had only notifications.
    func text() -> [UInt8]? {
        let answers = answers.compactMap { $0 }
        guard !answers.isEmpty else { return nil }
        guard bytes <= limit else { return RPCAnswer.error(RPCAnswer.tooLarge(limit: limit), id: .null) }
        var text: [UInt8] = []
        text.reserveCapacity(bytes)
        text.append(UInt8(ascii: "["))
        for answer in answers {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text.append(contentsOf: answer)
        }
        text.append(UInt8(ascii: "]"))
        return text
    }
}
