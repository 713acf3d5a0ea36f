import XferModel

/// `task.not_modified`.
public struct TaskNotModifiedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskNotModified)
    public init() {}

    public static let summary = "After cache.hit: the server says that the kept response is current; it is the task's."
    public static let wireFields: WireFields<Self> = []
}
