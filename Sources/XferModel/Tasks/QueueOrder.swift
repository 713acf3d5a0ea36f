/// Which of a host's queued tasks goes first.
public enum QueueOrder: String, Sendable, Codable, CaseIterable {
    /// First in, first out.
    case fifo
    /// Last in, first out.
    case lifo
}
