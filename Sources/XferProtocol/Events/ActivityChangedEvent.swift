import XferModel

/// `activity.changed`.
public struct ActivityChangedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.activityChanged)
    public var active: Bool = false

    public init() {}

    public init(active: Bool) {
        self.active = active
    }

    public static let summary = "Transfers began or ended, debounced."
    public static let wireFields: WireFields<Self> = [
        .required("active", \.active, "Whether transfers are going on.")
    ]
}
