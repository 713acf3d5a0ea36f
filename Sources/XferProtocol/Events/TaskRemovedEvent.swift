import XferModel

/// `task.removed`.
public struct TaskRemovedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskRemoved)
    public init() {}

    public static let summary = "A task was forgotten."
    public static let wireFields: WireFields<Self> = []
}
