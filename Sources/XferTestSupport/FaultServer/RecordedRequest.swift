public import XferModel

/// One received request, and the progress of its answer.
public struct RecordedRequest: Sendable {
    /// Counts from 0 over the whole server.
    public let index: Int
    /// The number of its TCP connection, counted from 1.
    public let connection: Int
    public let method: String
    /// The request target as sent, query included.
    public let target: String
    public let headers: [HeaderField]
    public let body: [UInt8]
    /// Status of the answer, nil before it is decided or when its head was garbage.
    public internal(set) var status: Int?
    /// The number of body bytes passed to the kernel so far.
    public internal(set) var sent: Int64 = 0
    /// True if the answer was written up to the end that the test defines.
    public internal(set) var isAnswered = false

    public init(
        index: Int, connection: Int, method: String, target: String, headers: [HeaderField] = [], body: [UInt8] = []
    ) {
        self.index = index
        self.connection = connection
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The first field with this name, case ignored.
    public func header(_ name: String) -> String? { headers.firstValue(named: name) }

    /// The same request without a field, as a server that does not know it would see it.
    public func ignoring(_ name: String) -> RecordedRequest {
        var copy = RecordedRequest(
            index: index, connection: connection, method: method, target: target,
            headers: headers.filter { !$0.name.equalsIgnoringASCIICase(name) }, body: body)
        copy.status = status
        return copy
    }

    /// The single requested byte range; nil without one, with several, or with one that this server cannot read.
    var range: RequestedRange? { header("Range").flatMap(RequestedRange.init) }
}

/// A `Range` field with one range (RFC 9110 §14.1.2).
enum RequestedRange {
    case from(Int64, through: Int64?)
    case suffix(Int64)

    init?(_ field: String) {
        guard field.hasPrefix("bytes="), !field.contains(",") else { return nil }
        let parts = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[0].isEmpty {
            guard let count = Int64(parts[1]) else { return nil }
            self = .suffix(count)
        } else {
            guard let first = Int64(parts[0]), parts[1].isEmpty || Int64(parts[1]) != nil else { return nil }
            self = .from(first, through: Int64(parts[1]))
        }
    }

    /// The offsets within a representation of this length; nil when it cannot be satisfied.
    func resolved(in length: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            let end = min(length, (last ?? length - 1) + 1)
            return first < end ? first..<end : nil
        case .suffix(let count): return count > 0 && length > 0 ? max(0, length - count)..<length : nil
        }
    }
}
