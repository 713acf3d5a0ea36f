public import XferModel

/// The connection of an attempt's last request, and the times of its steps.
public struct AttemptRecord: WireRecord, Hashable {
    public var beganAt = Timestamp(microseconds: 0)
    public var address: String?
    public var port: Int?
    public var httpVersion: String?
    public var isReused: Bool?
    public var nameLookup: Double?
    public var connect: Double?
    public var tls: Double?
    public var firstByte: Double?
    public var total: Double?

    public init() {}

    public init(_ trace: AttemptTrace) {
        beganAt = trace.beganAt
        address = trace.address
        port = trace.port.map { Int(clamping: $0) }
        httpVersion = trace.httpVersion
        isReused = trace.isReused ? true : nil
        func seconds(_ microseconds: Int64?) -> Double? { microseconds.map { Double($0) / 1_000_000 } }
        nameLookup = seconds(trace.times.nameLookup)
        connect = seconds(trace.times.connect)
        tls = seconds(trace.times.tls)
        firstByte = seconds(trace.times.firstByte)
        total = seconds(trace.times.total)
    }

    public static let summary = "Connection and times of an attempt's last request."
    public static let wireFields: WireFields<Self> = [
        .required("began_at", \.beganAt, "Start of the attempt."),
        .optional("address", \.address, "Address of the connection: the server's, or the proxy's."),
        .optional("port", \.port, "Port of the connection."),
        .optional("protocol", \.httpVersion, "Protocol of the response, for example HTTP/2."),
        .optional("reused", \.isReused, "True if the connection had been made for an earlier request."),
        .optional("name_lookup", \.nameLookup, "Seconds from the request's beginning until the name was resolved."),
        .optional("connect", \.connect, "Seconds until the connection was made."),
        .optional("tls", \.tls, "Seconds until the end of the TLS handshake."),
        .optional("first_byte", \.firstByte, "Seconds until the response's first byte arrived."),
        .optional(
            "total", \.total,
            "Seconds until the end of the request; for a running one, until its response began."),
    ]
}
