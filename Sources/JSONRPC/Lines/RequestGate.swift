/// Whether a connection may begin another request: limits their number, and their total size to that of one message.
struct RequestGate {
    private let requestLimit: Int
    private let byteLimit: Int
    private(set) var requests = 0
    private var bytes = 0

    init(requestLimit: Int, byteLimit: Int) {
        self.requestLimit = requestLimit
        self.byteLimit = byteLimit
    }

    var isOpen: Bool { requests < requestLimit && bytes < byteLimit }

    /// A message's share of the limits until it is answered.
    struct Share: Hashable {
        let width: Int
        let bytes: Int
    }

    /// Admits a message; a batch takes all free places, and runs that many requests at a time.
    mutating func enter(bytes: Int, isBatch: Bool) -> Share {
        let share = Share(width: isBatch ? max(1, requestLimit - requests) : 1, bytes: bytes)
        requests += share.width
        self.bytes += bytes
        return share
    }

    mutating func leave(_ share: Share) {
        requests -= share.width
        bytes -= share.bytes
    }
}
