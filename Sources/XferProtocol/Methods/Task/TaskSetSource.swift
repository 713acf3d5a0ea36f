import StrictJSON
public import XferModel

/// `task.set_source`: another URL for a task whose own expired.
public enum TaskSetSource: RPCMethod {
    public static let name = "task.set_source"
    public static let summary =
        "Gives a download another URL for the same bytes, for instance a freshly signed one; not while it runs. What is "
        + "kept is continued only if the server shows that it is the same version. A task that waits as source_expired "
        + "goes on at once."
    public static let errors: [ErrorCode] = [.notFound, .invalidState, .rejectedByPolicy, .storageUnavailable]

    public static let examples = [
        MethodExample(
            "signed anew", params: ["id": 17, "url": "https://files.example.org/big.iso?signature=Zm9v"],
            result: [
                "task": [
                    "id": 17, "state": "queued", "url": "https://files.example.org/big.iso?signature=***",
                ]
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var id = TaskID(0)
        public var url = ""

        public init() {}

        public init(id: TaskID, url: String) {
            self.id = id
            self.url = url
        }

        public static let summary = "Which task, and its new URL."
        public static let wireFields: WireFields<Self> = [
            .required("id", \.id, "The task."),
            .required("url", \.url, "An absolute http or https URL.", .length(1...TaskLimits.urlLength)),
        ]
    }

    public typealias Result = TaskGet.Result
}
