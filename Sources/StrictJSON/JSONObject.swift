/// The members of a JSON object, in the order of the text.
///
/// Up to 16 members are searched one after the other. With more members the object keeps an index, so that comparing
/// two objects and checking for duplicate keys take time linear in the size of the text. Keys are compared as bytes.
public struct JSONObject: Sendable {
    public private(set) var members: [(key: String, value: JSONValue)] = []
    /// The position of each key in `members`; nil up to 16 members.
    private var index: [JSONKey: Int]?

    static let searchedInLine = 16

    public init() {}

    public var count: Int { members.count }
    public var isEmpty: Bool { members.isEmpty }

    /// The value of the member `key`. Setting nil removes the member. Setting a value keeps the place of an existing
    /// member.
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

    /// Appends a member without searching for the key. The object must not have the key yet.
    public mutating func append(newKey key: String, _ value: JSONValue) {
        members.append((key: key, value: value))
        if index != nil {
            index?[JSONKey(key)] = members.count - 1
        } else if members.count > Self.searchedInLine {
            rebuildIndex()
        }
    }

    /// The position of the member `key` in `members`; nil when there is none.
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
    /// Creates an object. The keys must be distinct; this is not checked.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { append(newKey: key, value) }
    }
}

extension JSONObject: Hashable {
    /// True if the same keys have equal values, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.count)
        hasher.combine(members.reduce(0) { $0 ^ $1.key.hashValue })
    }
}

/// A key that is compared and hashed by its bytes. Swift's string equality would treat canonically equivalent keys as
/// the same key.
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
    /// True if both are the same sequence of UTF-8 bytes.
    func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && (utf8.elementsEqual(other.utf8))
    }
}
