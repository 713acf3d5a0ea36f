/// The parameters of a method that removes entries of a list, by their ids or by a URL.
public protocol RemovalParams: WireInput, WireParams {
    associatedtype ID: WireValue & Hashable

    var ids: [ID]? { get set }
    var url: String? { get set }
}

extension RemovalParams {
    public init(ids: [ID]) {
        self.init()
        self.ids = ids
    }

    public init(url: String) {
        self.init()
        self.url = url
    }

    public func validate() throws(WireError) {
        if ids != nil, url != nil { throw WireError(.conflictingFields, at: "url", expected: "either ids or url") }
        if ids == nil, url == nil { throw WireError(.missing, at: "ids", expected: "ids or url") }
    }
}

/// The answer of a method that removes entries of a list.
public protocol RemovalRecord: WireRecord {
    associatedtype ID: WireValue & Hashable

    /// The ids that existed.
    var removed: [ID] { get set }

    /// The ids that did not exist, or are another user's.
    var missing: [ID] { get set }
}

extension RemovalRecord {
    public init(removed: [ID], missing: [ID] = []) {
        self.init()
        self.removed = removed
        self.missing = missing
    }

    /// Creates the answer to a call with these ids, of which some existed.
    public init(_ ids: [ID], existing: Set<ID>) {
        self.init(removed: ids.filter(existing.contains), missing: ids.filter { !existing.contains($0) })
    }
}
