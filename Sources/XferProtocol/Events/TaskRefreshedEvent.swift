import XferModel

/// `task.refreshed`.
public struct TaskRefreshedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.taskRefreshed)
    public init() {}

    public static let summary = "After cache.hit: the server sent another response, which is the task's."
    public static let wireFields: WireFields<Self> = []
}
