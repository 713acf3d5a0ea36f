public import XferModel

/// Why a waiting task cannot start now, and until when if that is known. Tasks that are queued or running have one, too,
/// while the database cannot be written: `storage`.
public struct WaitRecord: WireRecord, Hashable {
    public var reason = OpenEnum(WaitReason.retry)
    public var until: Timestamp?

    public init() {}

    public init(_ wait: Wait) {
        reason = OpenEnum(wait.reason)
        until = wait.until
    }

    public static let summary =
        "Why a waiting task cannot start now; of a queued one, that its host asked for patience; of a queued or running "
        + "one, that the database cannot be written."
    public static let wireFields: WireFields<Self> = [
        .required("reason", \.reason, "What it waits for."),
        .optional("until", \.until, "When it goes on by itself, if that is known."),
    ]
}
