public import StrictJSON

/// One call of a client.
public enum Aria2Call: Hashable, Sendable {
    case request(id: JSONValue, method: String, params: [JSONValue])
    /// An invalid call; `id` is null if it could not be read.
    case invalid(id: JSONValue, Aria2Fault)

    public var id: JSONValue {
        switch self {
        case .request(let id, _, _), .invalid(let id, _): id
        }
    }
}

/// One message of a client, as aria2 reads JSON-RPC 2.0: params are an array, and an id is needed.
public enum Aria2Message: Hashable, Sendable {
    case single(Aria2Call)
    /// Several calls; never empty.
    case batch([Aria2Call])
    /// Neither a call nor a batch.
    case refused(Aria2Fault)

    /// Reads a message; every fault becomes an answer.
    ///
    /// - Parameters:
    ///   - maxDepth: deepest nesting of arrays and objects.
    ///   - maxCalls: most calls in a batch.
    public init(parsing text: some Collection<UInt8>, maxDepth: Int, maxCalls: Int) {
        guard let value = try? JSONValue(parsing: text, maxDepth: maxDepth) else {
            self = .refused(.parseError)
            return
        }
        guard case .array(let elements) = value else {
            self = .single(Aria2Call(value))
            return
        }
        guard (1...maxCalls).contains(elements.count) else {
            self = .refused(.invalidRequest)
            return
        }
        self = .batch(elements.map { Aria2Call($0) })
    }
}

extension Aria2Call {
    init(_ value: JSONValue) {
        guard case .object(let object) = value, let id = Self.id(object["id"]) else {
            self = .invalid(id: .null, .invalidRequest)
            return
        }
        guard let method = object["method"]?.stringValue else {
            self = .invalid(id: id, .invalidRequest)
            return
        }
        switch object["params"] {
        case nil, .null?: self = .request(id: id, method: method, params: [])
        case .array(let params)?: self = .request(id: id, method: method, params: params)
        default: self = .invalid(id: id, .invalidParams)
        }
    }

    private static func id(_ value: JSONValue?) -> JSONValue? {
        switch value {
        case .string(let text)? where text.utf8.count <= 1024: value
        case .integer?, .number?, .null?: value
        default: nil
        }
    }
}

/// The answer to one call, and a flag that is true if a token in the call was wrong or missing.
public struct Aria2Answer: Sendable {
    public let text: [UInt8]
    /// The HTTP status of the answer.
    public let status: Int

    /// The answer to one call.
    public init(_ result: Result<JSONValue, Aria2Fault>, id: JSONValue) {
        var object: JSONObject = ["id": id, "jsonrpc": "2.0"]
        switch result {
        case .success(let value):
            object.append(newKey: "result", value)
            status = 200
        case .failure(let fault):
            object.append(newKey: "error", fault.object)
            status = fault.status
        }
        var text: [UInt8] = []
        object.write(to: &text)
        self.text = text
    }

    /// The answers to a batch.
    public init(batch answers: [Aria2Answer]) {
        var text = [UInt8(ascii: "[")]
        for (index, answer) in answers.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text += answer.text
        }
        text.append(UInt8(ascii: "]"))
        self.text = text
        status = 200
    }

    /// A notification, which has no id.
    public static func notification(_ notification: Aria2Notification, of gid: Aria2GID) -> [UInt8] {
        let object: JSONObject = [
            "jsonrpc": "2.0", "method": .string(notification.rawValue),
            "params": [["gid": .string(gid.description)]],
        ]
        var text: [UInt8] = []
        object.write(to: &text)
        return text
    }
}

extension Aria2Fault {
    /// The member `error` of an answer, and of a result within `system.multicall`.
    public var object: JSONValue { ["code": .integer(code), "message": .string(message)] }
}

/// A part of a list, in the form of `tellWaiting` and `tellStopped`.
public struct Aria2Slice: Hashable, Sendable {
    public let offset: Int64
    public let count: Int64

    /// The highest number of downloads in one answer.
    public static let maxCount: Int64 = 1000
    /// The last position in the list; downloads beyond it are not listed.
    public static let reach: Int64 = 10_000

    /// - Parameters:
    ///   - offset: the place of the first download; −1 is the last download, and then the order is reversed.
    ///   - count: the number of downloads; at most `maxCount` are returned.
    public init(offset: Int64, count: Int64) {
        self.offset = offset
        self.count = min(max(0, count), Self.maxCount)
    }

    /// The number of first elements that have to be known.
    public var needed: Int {
        guard offset >= 0 else { return Int(clamping: Self.reach) }
        return Int(clamping: min(offset, Self.reach) + min(count, Self.maxCount))
    }

    public func apply<Element>(to elements: [Element]) -> [Element] {
        guard offset < 0 else {
            return Array(elements.dropFirst(Int(clamping: offset)).prefix(Int(clamping: count)))
        }
        let (last, isBeyond) = Int64(clamping: elements.count).addingReportingOverflow(offset)
        guard !isBeyond, last >= 0 else { return [] }
        return elements.prefix(Int(clamping: last) + 1).suffix(Int(clamping: count)).reversed()
    }
}

/// The place to which `changePosition` moves a download.
public enum Aria2Position: String, Sendable, CaseIterable {
    case set = "POS_SET"
    case current = "POS_CUR"
    case end = "POS_END"

    /// The new index in a queue of `count` downloads, of which the moved one is at `index`.
    public func index(_ position: Int64, from index: Int, count: Int) -> Int {
        let base: Int64 =
            switch self {
            case .set: 0
            case .current: Int64(clamping: index)
            case .end: Int64(clamping: count) - 1
            }
        let (sum, isBeyond) = base.addingReportingOverflow(position)
        let wanted = isBeyond ? (position < 0 ? 0 : Int64.max) : sum
        return Int(clamping: min(max(0, wanted), Int64(clamping: max(0, count - 1))))
    }
}
