public import StrictJSON
public import XferProtocol

/// A message from the daemon that answers no call (JSON-RPC 2.0 §4.1).
public struct Notification: Hashable, Sendable {
    public let method: String
    public let params: JSONValue

    public init(method: String, params: JSONValue) {
        self.method = method
        self.params = params
    }

    /// The event that the notification carries; nil if its method is not the one for events.
    public func event() throws(WireError) -> EventMessage? {
        guard method == EventMessage.notification else { return nil }
        return try EventMessage(lenient: params)
    }
}

/// Notifications in the order of their arrival. `removeFirst` moves the remaining ones at most once in 1024 calls.
struct NotificationQueue {
    private var elements: [Notification] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }
    var count: Int { elements.count - head }

    mutating func append(_ notification: Notification) { elements.append(notification) }

    /// Removes and returns the oldest notification. The queue must not be empty.
    mutating func removeFirst() -> Notification {
        let first = elements[head]
        head += 1
        if head == elements.count || head >= 1024 {
            elements.removeFirst(head)
            head = 0
        }
        return first
    }
}
