/// The connection of an attempt's last request, and the durations of its steps.
public struct AttemptTrace: Hashable, Sendable, Codable {
    /// The time at which the attempt began.
    public var beganAt: Timestamp
    /// The address of the connection: the server's, or the proxy's. Nil if there was no connection.
    public var address: String?
    public var port: UInt16?
    /// The connection's own port, which distinguishes connections; not stored.
    public var localPort: UInt16?
    /// The host and port of the URL that `address` is of; nil for a proxy's address. Not kept.
    public var addressedHost: String?
    /// The protocol of the response, for example `HTTP/1.1`; nil while there is none.
    public var httpVersion: String?
    /// True if a connection was used that had been made for an earlier request.
    public var isReused = false
    /// The end of each step, in microseconds from the beginning of the request; nil if the step was not reached, or not
    /// needed.
    public var times = Times()

    public struct Times: Hashable, Sendable, Codable {
        public var nameLookup: Int64?
        public var connect: Int64?
        public var tls: Int64?
        public var firstByte: Int64?
        public var total: Int64?

        public init() {}
    }

    public init(beganAt: Timestamp) { self.beganAt = beganAt }

    /// The duration of a round trip, or a longer one: that of TCP's handshake, or of the whole request if it was sent
    /// over a kept connection. Nil if it was not measured.
    public var roundTrip: Duration? {
        let end = isReused ? times.firstByte : times.connect
        return end.map { .microseconds(max(0, $0.subtractingSaturated(isReused ? 0 : times.nameLookup ?? 0))) }
    }
}

/// The text that a row stores: values separated by spaces; `-` is nil.
extension AttemptTrace {
    public init?(text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { $0 == "-" ? nil : String($0) }
        guard words.count == 10, let began = words[9].flatMap({ Int64($0, radix: 10) }) else { return nil }
        beganAt = Timestamp(microseconds: began)
        address = words[0]
        port = words[1].flatMap { UInt16($0, radix: 10) }
        httpVersion = words[2]
        isReused = words[3] == "1"
        func time(_ index: Int) -> Int64? { words[index].flatMap { Int64($0, radix: 10) }.map { max(0, $0) } }
        times.nameLookup = time(4)
        times.connect = time(5)
        times.tls = time(6)
        times.firstByte = time(7)
        times.total = time(8)
    }

    public var text: String {
        var words = [address, port.map { String($0) }, httpVersion, isReused ? "1" : "0"]
        words += [times.nameLookup, times.connect, times.tls, times.firstByte, times.total].map {
            $0.map { String($0) }
        }
        words.append(String(beganAt.rawValue))
        return words.map { $0 ?? "-" }.joined(separator: " ")
    }
}
