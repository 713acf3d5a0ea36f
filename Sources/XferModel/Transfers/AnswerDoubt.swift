/// An answer that is probably not the file whose bytes are kept, and the number of times that it was received in a row.
/// It is durable, since the answers belong to different attempts.
public struct AnswerDoubt: Hashable, Sendable {
    /// The text of all properties by which answers are the same: source, status, type, validators and length.
    public var signature: String
    /// The number of times, 1 upward.
    public var count: Int

    public init(signature: String, count: Int) {
        self.signature = signature
        self.count = count
    }
}
