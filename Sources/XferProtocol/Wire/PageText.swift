/// The elements of a page as JSON text, as many as fit in one answer.
///
/// They are written once, into the answer's own text: a page that is too long is detected while it is written.
public struct PageText: Sendable {
    /// The highest number of bytes of a page with more than one element. A message may have four times as many.
    public static let limit = 1 << 20
    /// The highest number of bytes of one element.
    public static let largestElement = 3 << 20

    private let limit: Int
    private var text: [UInt8] = []
    /// The number of elements.
    public private(set) var count = 0

    /// - Parameter limit: bytes.
    public init(limit: Int = PageText.limit) { self.limit = limit }

    /// Appends an element; returns false, and appends nothing, if it no longer fits. The first one always fits.
    public mutating func append(_ element: some WireValue) -> Bool {
        appendText { element.write(to: &$0) }
    }

    /// Appends the task; one that is longer than a message may be is abridged.
    public mutating func append(_ task: TaskRecord) -> Bool {
        appendText { text in
            let start = text.count
            task.write(to: &text)
            guard text.count - start > Self.largestElement else { return }
            text.removeSubrange(start...)
            task.abridged.write(to: &text)
        }
    }

    /// Appends the output of `write` to the text, unless it does not fit.
    private mutating func appendText(_ write: (inout [UInt8]) -> Void) -> Bool {
        let before = text.count
        if count > 0 { text.append(UInt8(ascii: ",")) }
        write(&text)
        guard count == 0 || text.count <= limit else {
            text.removeSubrange(before...)
            return false
        }
        count += 1
        return true
    }

    /// The text of an answer whose first field is a list that is empty in `result`: with the elements in that list.
    public func answer(_ result: some WireRecord) -> [UInt8] {
        var rest: [UInt8] = []
        result.write(to: &rest)
        guard let open = rest.firstIndex(of: UInt8(ascii: "[")), open + 1 < rest.count,
            rest[open + 1] == UInt8(ascii: "]")
        else {
            assertionFailure("the first field is not an empty list")
            return rest
        }
        var answer: [UInt8] = []
        answer.reserveCapacity(rest.count + text.count)
        answer += rest[...open]
        answer += text
        answer += rest[(open + 1)...]
        return answer
    }
}

extension TaskRecord {
    /// The record with only those fields that are always short.
    var abridged: TaskRecord {
        var record = selecting(Self.shortFields)
        record.isAbridged = true
        return record
    }

    private static let shortFields =
        TaskColumns(["owner", "state", "phase", "kind", "group", "label", "priority", "progress", "error", "wait"])
        ?? .all
}

/// The parameters of a list that has pages: how many entries at once, and where to continue.
public protocol PageParams: WireInput, WireParams {
    var limit: Int { get set }
    var cursor: String? { get set }
}

/// One page of a list.
public protocol PageRecord: WireRecord {
    associatedtype Entry: WireValue

    /// The member with the entries.
    static var list: WritableKeyPath<Self, [Entry]> { get }

    /// The beginning of the next page, or nil after the last.
    var nextCursor: String? { get set }
}

extension PageRecord {
    /// Creates a page of these entries.
    public init(_ entries: [Entry] = [], nextCursor: String?) {
        self.init()
        self[keyPath: Self.list] = entries
        self.nextCursor = nextCursor
    }
}

extension WireField {
    /// Declares the cursor of a page, which every list has.
    static func nextCursor(_ path: any WritableKeyPath<Record, String?> & Sendable) -> WireField {
        .nullable("next_cursor", path, "Cursor of the next page; null after the last.")
    }
}

/// The parameters of lists of named objects.
public struct NamedPageParams: PageParams, Hashable {
    public var limit = 1000
    public var cursor: String?

    public init() {}

    public init(limit: Int, cursor: String?) {
        self.limit = limit
        self.cursor = cursor
    }

    public static let summary = "The length of a page, and the cursor to continue from."
    public static let wireFields: WireFields<Self> = [
        .defaulted("limit", \.limit, "Highest number of elements in one answer.", .range(1...1000)),
        .optional("cursor", \.cursor, "next_cursor of the previous page.", .length(1...1024)),
    ]
}

extension PageText {
    /// The text of a page of entries, each with the cursor of the place behind it.
    ///
    /// - Parameters:
    ///   - nextCursor: of the page with all entries.
    ///   - result: makes the answer without its elements.
    public static func entries<Entry, Result: WireRecord>(
        _ entries: [Entry], _ cursors: [String], _ nextCursor: String?, record: (Entry) -> some WireValue,
        result: (_ nextCursor: String?) -> Result
    ) -> [UInt8] {
        var page = PageText()
        for entry in entries {
            guard page.append(record(entry)) else { return page.answer(result(cursors[page.count - 1])) }
        }
        return page.answer(result(nextCursor))
    }

    /// The same for a page that holds nothing but its entries.
    public static func entries<Entry, Page: PageRecord>(
        _ entries: [Entry], _ cursors: [String], _ nextCursor: String?, as _: Page.Type,
        record: (Entry) -> some WireValue
    ) -> [UInt8] {
        self.entries(entries, cursors, nextCursor, record: record) { Page(nextCursor: $0) }
    }

    /// Returns the text of one page of objects that are ordered by name. The cursor is the last name of the page
    /// before.
    ///
    /// - Parameters:
    ///   - objects: all there are.
    ///   - result: makes the answer without its elements.
    public static func named<Object, Result: WireRecord>(
        _ objects: [Object], _ params: NamedPageParams, name: (Object) -> String, record: (Object) -> some WireValue,
        result: (_ nextCursor: String?) -> Result
    ) -> [UInt8] {
        var page = PageText()
        var last: String?
        // In the order of bytes: the database and Swift order texts differently.
        func precedes(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
        for object in objects.sorted(by: { precedes(name($0), name($1)) }) {
            if let cursor = params.cursor, !precedes(cursor, name(object)) { continue }
            guard page.count < params.limit, page.append(record(object)) else { return page.answer(result(last)) }
            last = name(object)
        }
        return page.answer(result(nil))
    }

    /// The same for a page that holds nothing but its objects.
    public static func named<Object, Page: PageRecord>(
        _ objects: [Object], _ params: NamedPageParams, as _: Page.Type, name: (Object) -> String,
        record: (Object) -> some WireValue
    ) -> [UInt8] {
        named(objects, params, name: name, record: record) { Page(nextCursor: $0) }
    }
}

extension PageText {
    /// The text of a page of events.
    ///
    /// - Parameter reached: the number after which the next page begins if all events fit.
    public static func events(_ events: [EventMessage], reached: Int64) -> [UInt8] {
        var page = PageText()
        for event in events {
            guard page.append(event) else {
                let last = events[page.count - 1].seq ?? reached
                return page.answer(EventsSince.Page(events: [], lastSeq: last))
            }
        }
        return page.answer(EventsSince.Page(events: [], lastSeq: reached))
    }
}
