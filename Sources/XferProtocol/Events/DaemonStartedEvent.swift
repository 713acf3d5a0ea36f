import XferModel

/// `daemon.started`.
public struct DaemonStartedEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.daemonStarted)
    public var version: String = ""
    public var queued: Int64 = 0
    public var restored: Int64 = 0

    public init() {}

    public init(version: String, queued: Int64, restored: Int64) {
        self.version = version
        self.queued = queued
        self.restored = restored
    }

    public static let summary = "The daemon started."
    public static let wireFields: WireFields<Self> = [
        .required("version", \.version, "Its version."),
        .required("queued", \.queued, "Tasks that are queued."),
        .required("restored", \.restored, "Tasks that had a live try when it stopped."),
    ]
}
