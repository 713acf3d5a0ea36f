public import XferModel

/// How far a task is.
public struct ProgressRecord: WireRecord, Hashable {
    public var received: Int64 = 0
    public var sent: Int64 = 0
    public var total: Int64?
    public var rate: Int64 = 0
    public var eta: Int64?

    public init() {}

    public init(received: Int64, sent: Int64 = 0, total: Int64?, rate: Int64 = 0, eta: Int64? = nil) {
        self.received = received
        self.sent = sent
        self.total = total
        self.rate = rate
        self.eta = eta
    }

    public init(_ snapshot: ProgressSnapshot) {
        self.init(
            received: snapshot.received, sent: snapshot.sent, total: snapshot.total, rate: snapshot.rate,
            eta: snapshot.eta)
    }

    public static let summary = "How far a task is."
    public static let wireFields: WireFields<Self> = [
        .required("received", \.received, "Bytes held so far, those kept from earlier tries included."),
        .required("sent", \.sent, "Bytes sent."),
        .nullable("total", \.total, "Complete length in bytes; null while unknown."),
        .required("rate", \.rate, "Bytes per second over the last seconds."),
        .nullable("eta", \.eta, "Seconds until the end at that rate; null while unknown."),
    ]
}
