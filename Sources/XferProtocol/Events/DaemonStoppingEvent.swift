public import XferModel

/// `daemon.stopping`.
public struct DaemonStoppingEvent: WireEvent, Hashable {
    public static let eventName = EventName.durable(.daemonStopping)

    public var mode = OpenEnum(ShutdownMode.suspend)

    public init() {}

    public init(mode: ShutdownMode) {
        self.mode = OpenEnum(mode)
    }

    public static let summary = "The daemon is going down."
    public static let wireFields: WireFields<Self> = [.required("mode", \.mode, "What becomes of unfinished tasks.")]
}
