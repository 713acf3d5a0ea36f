public import XferModel

extension TaskState: WireEnum {}
extension TaskPhase: WireEnum {}
extension TaskKind: WireEnum {}
extension WaitReason: WireEnum {}
extension FailureReason: WireEnum {}
extension FailureCause: WireEnum {}
extension ConflictPolicy: WireEnum {}
extension HTTPVersion: WireEnum {}
extension IPVersion: WireEnum {}
extension RedirectPolicy: WireEnum {}
extension RedirectDecision: WireEnum {}
extension StrictTransportMode: WireEnum {}
extension CachePolicy: WireEnum {}
extension AnnouncedDigests: WireEnum {}
extension ShutdownMode: WireEnum {}
extension QueueOrder: WireEnum {}
extension FinalizeMode: WireEnum {}
extension NetworkState: WireEnum {}
extension EventType: WireEnum {}
extension OperationVerb: WireEnum {}
extension OperationState: WireEnum {}

/// A priority is stored as a number so that it sorts, and written as a name.
extension Priority: WireEnum {
    public var wireName: String {
        switch self {
        case .low: "low"
        case .normal: "normal"
        case .high: "high"
        }
    }

    public init?(wireName: String) {
        guard let priority = Priority.allCases.first(where: { $0.wireName == wireName }) else { return nil }
        self = priority
    }
}

/// The rule for continuing kept bytes without a validator.
public enum ResumeMode: String, WireEnum {
    /// Continue only with a validator, else start from the beginning.
    case auto
    /// Continue also without a validator, trusting that the source did not change.
    case unsafe
}

/// The order of a list, by id.
public enum ListOrder: String, WireEnum {
    /// Oldest first.
    case ascending = "asc"
    /// Newest first.
    case descending = "desc"
}
