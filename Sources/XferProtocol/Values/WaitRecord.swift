public import XferModel

/// Why a waiting task cannot start now, and until when if that is known.
public struct WaitRecord: WireRecord, Hashable {
    public var reason = OpenEnum(WaitReason.retry)
    public var until: Timestamp?

    public init() {}

    public init(_ wait: Wait) {
        reason = OpenEnum(wait.reason)
        until = wait.until
    }

    public static let summary = "Why a waiting task cannot start now."
    public static let wireFields: WireFields<Self> = [
        .required("reason", \.reason, "What it waits for."),
        .optional("until", \.until, "When it goes on by itself, if that is known."),
    ]
}
