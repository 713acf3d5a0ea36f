public import StrictJSON
public import XferModel

/// `task.read`: the bytes of a task, also while they arrive.
public enum TaskRead: RPCMethod {
    public static let name = "task.read"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let hasLongAnswer = true
    public static let summary =
        "A range of a task's bytes: for a download that has not ended, the bytes committed so far; for a staged one, its file; "
        + "for a completed one, the published file if it is unchanged (inode, birth time, size and modification time); "
        + "for data tasks and uploads, the stored response; for a running data task, the bytes received so far. "
        + "If the version differs between two pages, they belong to different files: begin again."
    public static let errors: [ErrorCode] = [.notFound, .invalidState]

    public static let examples = [
        MethodExample(
            "the bytes of a running download", params: ["id": 17, "offset": 0, "length": 4],
            result: [
                "data": "%PDF", "encoding": "utf-8", "offset": 0, "eof": false, "length": 8_388_608, "state": "running",
                "version": "12.0",
            ])
    ]

    /// The highest number of bytes of one answer.
    public static let largestPage = TaskResult.largestPage

    public struct Params: WireInput, WireParams, Hashable {
        public var id = TaskID(0)
        public var offset: Int64 = 0
        public var length: Int64 = TaskRead.largestPage

        public init() {}

        public init(id: TaskID, offset: Int64 = 0, length: Int64 = TaskRead.largestPage) {
            self.id = id
            self.offset = offset
            self.length = length
        }

        public static let summary = "The task, and the range of its bytes."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."),
            .defaulted("offset", \.offset, "Offset of the first byte.", .range(0...(1 << 53))),
            .defaulted("length", \.length, "Highest number of bytes.", .range(1...TaskRead.largestPage)),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var data = ""
        public var encoding = OpenEnum(TaskResult.Encoding.utf8)
        public var offset: Int64 = 0
        public var eof = false
        public var length: Int64 = 0
        public var state = OpenEnum(TaskState.queued)
        public var version: String?

        public init() {}

        public init(
            bytes: [UInt8], offset: Int64, eof: Bool, length: Int64, state: TaskState, version: String?
        ) {
            let encoded = TaskResult.Encoding.encode(bytes)
            (data, encoding) = (encoded.data, OpenEnum(encoded.encoding))
            self.offset = offset
            self.eof = eof
            self.length = length
            self.state = OpenEnum(state)
            self.version = version
        }

        /// The bytes; nil when `data` does not have the form `encoding`.
        public var bytes: [UInt8]? { TaskResult.Encoding.decode(data, encoding) }

        public static let summary = "A part of a task's bytes."
        public static let wireFields: WireFields<Self> = [
            .required("data", \.data, "The bytes."),
            .required(
                "encoding", \.encoding, "Encoding of the bytes: unchanged text, or base64 if they are not text."),
            .required("offset", \.offset, "Offset of the first byte."),
            .required("eof", \.eof, "True if no bytes follow, now or later."),
            .required("length", \.length, "Bytes that can be read now."),
            .required("state", \.state, "State of the task."),
            .optional(
                "version", \.version,
                "Identifies the bytes; it differs for another version of the source, or another attempt."),
        ]
    }
}

/// `task.result`: a server's answer to a `data` or `upload` task.
public enum TaskResult: RPCMethod {
    public static let name = "task.result"
    public static let access = MethodAccess.owners
    public static let scope = MethodScope.read
    public static let hasLongAnswer = true
    public static let summary =
        "A range of the stored response of a data or upload task, and the parsed object. "
        + "Stored for 7 days, also for a task that failed because of its status, type or content."
    public static let errors: [ErrorCode] = [.notFound, .invalidState]

    public static let examples = [
        MethodExample(
            "a JSON answer", params: ["id": 17],
            result: [
                "data": "{\"id\":5,\"note\":null}", "encoding": "utf-8", "offset": 0, "eof": true, "length": 20,
                "object": ["id": 5],
            ]),
        MethodExample(
            "the rest of a long response", params: ["id": 18, "offset": 1_048_576, "length": 1_048_576],
            result: [
                "data": "/9j/4AAQSkZJRg==", "encoding": "base64", "offset": 1_048_576, "eof": true, "length": 1_048_586,
            ]),
    ]

    /// The highest number of bytes of one answer.
    public static let largestPage: Int64 = 1 << 20

    public struct Params: WireInput, WireParams, Hashable {
        public var id = TaskID(0)
        public var offset: Int64 = 0
        public var length: Int64 = TaskResult.largestPage

        public init() {}

        public init(id: TaskID, offset: Int64 = 0, length: Int64 = TaskResult.largestPage) {
            self.id = id
            self.offset = offset
            self.length = length
        }

        public static let summary = "The task, and the range of its response."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."),
            .defaulted("offset", \.offset, "Offset of the first byte.", .range(0...(1 << 53))),
            .defaulted("length", \.length, "Highest number of bytes.", .range(1...TaskResult.largestPage)),
        ]
    }

    /// The form of `data`.
    public enum Encoding: String, WireEnum {
        /// The text, unchanged.
        case utf8 = "utf-8"
        /// RFC 4648 §4: of bytes that are not UTF-8.
        case base64

        /// A page that ends within a character is no UTF-8, so it is base64, and nothing of it is changed.
        static func encode(_ bytes: [UInt8]) -> (data: String, encoding: Encoding) {
            // Control characters grow sixfold as JSON text: beyond the size of a message, so those are base64, too.
            if controlCharacters(in: bytes) <= bytes.count / 8, let text = String(validating: bytes, as: UTF8.self) {
                return (text, .utf8)
            }
            return (Base64.encode(bytes), .base64)
        }

        private static func controlCharacters(in bytes: [UInt8]) -> Int {
            bytes.withUnsafeBufferPointer { buffer in
                guard let start = buffer.baseAddress else { return 0 }
                var (count, offset) = (0, 0)
                while offset < buffer.count {
                    if start[offset] < 0x20 { count += 1 }
                    offset += 1
                }
                return count
            }
        }

        /// Decodes `data`, or returns nil when it does not have the form `encoding`.
        static func decode(_ data: String, _ encoding: OpenEnum<Encoding>) -> [UInt8]? {
            encoding.value == .base64 ? Base64.decode(data) : Array(data.utf8)
        }
    }

    public struct Result: WireRecord, Hashable {
        public var data = ""
        public var encoding = OpenEnum(Encoding.utf8)
        public var offset: Int64 = 0
        public var eof = true
        public var length: Int64 = 0
        public var object: JSONValue?

        public init() {}

        public init(bytes: [UInt8], offset: Int64, eof: Bool, length: Int64, object: JSONValue?) {
            let encoded = Encoding.encode(bytes)
            (data, encoding) = (encoded.data, OpenEnum(encoded.encoding))
            self.offset = offset
            self.eof = eof
            self.length = length
            self.object = object
        }

        /// The bytes; nil when `data` does not have the form `encoding`.
        public var bytes: [UInt8]? { Encoding.decode(data, encoding) }

        public static let summary = "A part of a response."
        public static let wireFields: WireFields<Self> = [
            .required("data", \.data, "The bytes."),
            .required(
                "encoding", \.encoding, "Encoding of the bytes: unchanged text, or base64 if they are not text."),
            .required("offset", \.offset, "Offset of the first byte."),
            .required("eof", \.eof, "True if no bytes follow."),
            .required("length", \.length, "Bytes of the whole response."),
            .optional(
                "object", \.object,
                "Result of `parse` for the whole response; only with offset 0. null is a valid result."),
        ]
    }
}
