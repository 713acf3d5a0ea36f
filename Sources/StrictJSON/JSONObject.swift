/// Members of a JSON object in the order they were written.
///
/// Up to 16 members are searched in line; above that an index is kept, so that looking up, comparing and checking for
/// duplicates stay linear in the size of the text. Keys are compared as bytes.
public struct JSONObject: Sendable {
    public private(set) var members: [(key: String, value: JSONValue)] = []
    /// Positions by key, once there are more members than are worth searching in line.
    private var index: [JSONKey: Int]?

    private static let searchedInLine = 16

    public init() {}

    public var count: Int { members.count }
    public var isEmpty: Bool { members.isEmpty }

    /// The value of the member `key`; setting nil removes the member, setting a value keeps its place.
    public subscript(key: String) -> JSONValue? {
        get { position(of: key).map { members[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?):
                members[position].value = value
            case (let position?, nil):
                members.remove(at: position)
                rebuildIndex()
            case (nil, let value?):
                append(newKey: key, value)
            case (nil, nil):
                break
            }
        }
    }

    /// Appends without looking for the key: the caller knows that it is new.
    public mutating func append(newKey key: String, _ value: JSONValue) {
        members.append((key: key, value: value))
        if index != nil {
            index?[JSONKey(key)] = members.count - 1
        } else if members.count > Self.searchedInLine {
            rebuildIndex()
        }
    }

    /// Where the member `key` is, nil when there is none.
    func position(of key: String) -> Int? {
        if let index { return index[JSONKey(key)] }
        return members.firstIndex { $0.key.hasSameBytes(as: key) }
    }

    private mutating func rebuildIndex() {
        index = nil
        guard members.count > Self.searchedInLine else { return }
        var positions = [JSONKey: Int](minimumCapacity: members.count * 2)
        for (position, member) in members.enumerated() { positions[JSONKey(member.key)] = position }
        index = positions
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Keys have to be distinct.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { append(newKey: key, value) }
    }
}

extension JSONObject: Hashable {
    /// Equal when the same keys have equal values, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.count)
        hasher.combine(members.reduce(0) { $0 ^ $1.key.hashValue })
    }
}

/// A key compared and hashed by its bytes; Swift's own string equality would take canonically equivalent ones as one.
struct JSONKey: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: JSONKey, right: JSONKey) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) {
        let hashed: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if hashed == nil {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }
}

extension String {
    /// Whether both are the same sequence of UTF-8 bytes.
    func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && (utf8.elementsEqual(other.utf8))
    }
}
