public import StrictJSON
public import XferModel

/// The methods of `batch.*`, in the order of the document.
enum BatchMethods {
    static let all: [any RPCMethod.Type] = [BatchAdd.self, BatchGet.self, BatchList.self]
}

/// `batch.add`: many URLs in one transaction, as a group with its own concurrency.
public enum BatchAdd: RPCMethod {
    public static let name = "batch.add"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.add
    public static let summary =
        "Adds up to 10,000 tasks in one transaction as a group with its own concurrency, low priority unless set "
        + "otherwise, and counts them together. An invalid entry is reported with its index; the others are added."
    public static let errors: [ErrorCode] = [
        .rejectedByPolicy, .conflict, .limitExceeded, .storageUnavailable, .shuttingDown,
    ]
    public static let examples = [
        MethodExample(
            "three URLs, one of them bad",
            params: [
                "tasks": [
                    "https://example.org/a.png", ["url": "https://example.org/b.png", "output": "b-2.png"],
                    "mailto:somebody",
                ],
                "options": ["dir": "/srv/images"], "max_active": 3,
            ],
            result: [
                "batch": [
                    "id": 4, "owner": 1000, "group": "batch-4", "total": 2, "finished": 0, "skipped": 0,
                    "counts": [
                        "queued": 2, "waiting": 0, "running": 0, "paused": 0, "staged": 0, "completed": 0, "failed": 0,
                        "cancelled": 0,
                    ],
                    "created_at": "2026-01-02T03:04:05.678Z", "completed_at": nil,
                ],
                "ids": [18, 19],
                "errors": [
                    [
                        "index": 2, "code": -32602, "message": "tasks[2].url: the scheme is neither http nor https",
                        "data": ["reason": "invalid_value", "path": "tasks[2].url"],
                    ]
                ],
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var tasks: [BatchEntry] = []
        public var options = JSONObject()
        public var maxActive = 3
        public var atomic = false
        public var clientKey: String?

        public init() {}

        public static let summary = "The batch's entries and options."
        public static let wireFields: WireFields<Self> = [
            .required("tasks", \.tasks, "Up to 10,000 URLs or tasks.", .count(1...TaskLimits.batchSize)),
            .defaulted(
                "options", \.options,
                "Fields of a task, in the form of task.add, for every entry that does not set them itself; "
                    + "priority is low unless given.", example: ["dir": "/srv/images"]),
            .defaulted(
                "max_active", \.maxActive, "Highest number of its transfers at once, within the queue's limits.",
                .range(GroupLimits.activeRange)),
            .defaulted("atomic", \.atomic, "True to refuse the whole batch if an entry is invalid."),
            .optional(
                "client_key", \.clientKey,
                "Makes the add safe to repeat: the same key with the same parameters returns the batch that exists.",
                .length(1...TaskLimits.nameLength), .visible),
        ]

        /// Validates `options`, because a fault there would be a fault of every entry.
        public func validate() throws(WireError) {
            for (name, value) in options.members {
                if name == "url" || BatchEntry.ownedByBatch.contains(name) {
                    throw WireError(.conflictingFields, at: name, expected: "no \(name) for all entries").under(
                        "options")
                }
                do throws(WireError) {
                    try NewTask.check(name, value)
                } catch {
                    throw error.under("options")
                }
            }
        }

        /// The task of one entry; an error's path begins with `tasks[index]`.
        public func task(at index: Int) throws(WireError) -> NewTask {
            var shared = options
            if shared["priority"] == nil { shared["priority"] = Priority.low.wire }
            do throws(WireError) {
                return try tasks[index].task(shared)
            } catch {
                throw error.under(index).under("tasks")
            }
        }

        /// The whole request as text, independent of the order of objects' members.
        public var canonicalText: String { wire.sortingMembers.text }
    }

    public struct Result: WireRecord, Hashable {
        public var batch = BatchRecord()
        public var ids: [TaskID] = []
        public var errors: [BatchRefusal] = []
        public var existing: Bool?
        public var seq: Int64?

        public init() {}

        public static let summary = "The new batch, or the existing one."
        public static let wireFields: WireFields<Self> = [
            .required("batch", \.batch, "The batch."),
            .required(
                "ids", \.ids,
                "Its members in the order of their entries; for an existing batch, without removed members."
            ),
            .required("errors", \.errors, "The entries that did not become members."),
            .optional("existing", \.existing, "True when client_key found a batch with the same parameters."),
            .optional("seq", \.seq, TaskAdd.seqSummary),
        ]
    }
}

extension NewTask {
    /// Checks one field independently of the others.
    fileprivate static func check(_ name: String, _ value: JSONValue) throws(WireError) {
        guard let index = wireFields.index(of: name) else {
            throw WireError(.unknownField, at: name, expected: wireFields.suggestion(for: name))
        }
        var task = NewTask()
        do throws(WireError) {
            try wireFields.decode(index, value, .strict, into: &task)
        } catch {
            throw error.under(name)
        }
    }
}

/// `batch.get`: the state of a batch.
public enum BatchGet: RPCMethod {
    public static let name = "batch.get"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let summary =
        "State of a batch. It is known while its members exist, and then as long as finished tasks are stored."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [
        MethodExample(
            "two of five failed", params: ["id": 4],
            result: [
                "batch": [
                    "id": 4, "owner": 1000, "group": "batch-4", "total": 5, "finished": 5, "skipped": 2,
                    "counts": [
                        "queued": 0, "waiting": 0, "running": 0, "paused": 0, "staged": 0, "completed": 3, "failed": 2,
                        "cancelled": 0,
                    ],
                    "created_at": "2026-01-02T03:04:05.678Z", "completed_at": "2026-01-02T03:05:00.001Z",
                ]
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var id = BatchID(0)

        public init() {}
        public init(id: BatchID) { self.id = id }

        public static let summary = "The batch."
        public static let wireFields: WireFields<Self> = [.required("id", \.id, "The batch's id.")]
    }

    public struct Result: WireRecord, Hashable {
        public var batch = BatchRecord()

        public init() {}
        public init(_ batch: Batch) { self.batch = BatchRecord(batch) }

        public static let summary = "Present state of the batch."
        public static let wireFields: WireFields<Self> = [.required("batch", \.batch, "Present state of the batch.")]
    }
}

/// `batch.list`: the batches that are known.
public enum BatchList: RPCMethod {
    public static let name = "batch.list"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let isBulk = true
    public static let summary =
        "Batches, the newest first, page by page: the caller's own, or every user's for an operator. A batch is known "
        + "while its members exist, and then as long as finished tasks are stored."
    public static let examples = [
        MethodExample(
            "one batch", params: [:],
            result: [
                "batches": [
                    [
                        "id": 4, "owner": 1000, "group": "batch-4", "total": 5, "finished": 2, "skipped": 0,
                        "counts": [
                            "queued": 0, "waiting": 0, "running": 3, "paused": 0, "staged": 0, "completed": 2,
                            "failed": 0, "cancelled": 0,
                        ],
                        "created_at": "2026-01-02T03:04:05.678Z", "completed_at": nil,
                    ]
                ], "next_cursor": nil,
            ])
    ]

    public struct Params: PageParams, Hashable {
        public var limit = 100
        public var cursor: String?

        public init() {}

        public static let summary = "The length of a page, and the cursor to continue from."
        public static let wireFields: WireFields<Self> = [
            .defaulted("limit", \.limit, "Highest number of batches in one answer.", .range(1...1000)),
            .optional("cursor", \.cursor, "next_cursor of the previous page.", .length(1...1024)),
        ]

        /// The last batch of the page before; nil for the first page.
        ///
        /// - Throws: `WireError` if the cursor is none of this list's.
        public func before() throws(WireError) -> BatchID? {
            guard let cursor else { return nil }
            guard cursor.utf8.allSatisfy({ (48...57).contains($0) }), let id = Int64(cursor, radix: 10) else {
                throw WireError(.invalidValue, at: "cursor", expected: "the next_cursor of an answer")
            }
            return BatchID(id)
        }
    }

    public struct Result: PageRecord, Hashable {
        public var batches: [BatchRecord] = []
        public var nextCursor: String?

        public init() {}

        public static var list: WritableKeyPath<Self, [BatchRecord]> { \.batches }

        /// - Parameters:
        ///   - found: the batches after the cursor; one more than the page has if another page follows.
        ///   - limit: the length of a page.
        public init(_ found: [BatchRecord], limit: Int) {
            batches = Array(found.prefix(limit))
            nextCursor = found.count > limit ? batches.last.map { "\($0.id)" } : nil
        }

        public static let summary = "One page of the batches."
        public static let wireFields: WireFields<Self> = [
            .required("batches", \.batches, "The batches."),
            .nextCursor(\.nextCursor),
        ]
    }
}
