import StrictJSON
public import XferModel

/// `cache.get`: one response that is kept.
public enum CacheGet: RPCMethod {
    public static let name = "cache.get"
    public static let summary = "A response that the cache keeps, with its header fields; not its content."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [
        MethodExample(
            "one", params: ["id": 3],
            result: ["entry": example.with(["response_headers": ["ETag": "\"a1\"", "Cache-Control": "max-age=60"]])])
    ]

    static let example: JSONValue = [
        "id": 3, "owner": 1000, "url": "https://example.org/list.json?token=***", "http_status": 200, "size": 4096,
        "etag": "\"a1\"", "received_at": "2026-01-02T03:04:05.678Z", "stored_at": "2026-01-02T03:04:05.690Z",
        "last_used_at": "2026-01-02T03:09:00.000Z", "fresh_until": "2026-01-02T04:04:05.000Z", "varies": ["accept"],
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var id = CacheEntryID(0)

        public init() {}
        public init(id: CacheEntryID) { self.id = id }

        public static let summary = "Which entry."
        public static let wireFields: WireFields<Self> = [.required("id", \.id, "The entry's id.")]
    }

    public struct Result: WireRecord, Hashable {
        public var entry = CacheEntryRecord()

        public init() {}
        public init(entry: CacheEntryRecord) { self.entry = entry }

        public static let summary = "The entry."
        public static let wireFields: WireFields<Self> = [.required("entry", \.entry, "The entry.")]
    }
}

extension JSONValue {
    fileprivate func with(_ more: JSONObject) -> JSONValue {
        guard case .object(var object) = self else { return self }
        for (name, value) in more.members { object[name] = value }
        return .object(object)
    }
}
