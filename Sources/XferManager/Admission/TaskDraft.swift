public import XferModel
import XferStore

/// A task as a client worded it: URLs and paths are text, and nobody has looked at them yet.
public struct TaskDraft: Sendable {
    /// As the client wrote it, relative to the profile's base URL or absolute; user info in it becomes a credential.
    public var url: String
    /// Further sources of the same bytes, written as `url` but without user info; `url` is `urls[0]` then.
    public var mirrors: [String]
    /// The field that named the destination's directory, for errors: `dir` or `output`.
    public var directoryField: String
    public var request: RequestFields
    /// Whether it is tried although its URL failed for good a while ago.
    public var retriesFailed: Bool
    /// Makes the add safe to repeat; the specification has it, too.
    public var clientKey: String?
    /// What the client sent, in one text: tells a repeated add from another one with the same `client_key`, whatever
    /// profile and settings have become meanwhile. Nil goes by what becomes of the draft.
    public var asked: String?
    /// The rest, around the request that was made of `url` and `request`.
    public var specification: @Sendable (TransferRequest) -> TaskSpecification

    public init(
        url: String, mirrors: [String] = [], directoryField: String = "dir", request: RequestFields = RequestFields(),
        retriesFailed: Bool = false, clientKey: String? = nil, asked: String? = nil,
        specification: @escaping @Sendable (TransferRequest) -> TaskSpecification
    ) {
        self.url = url
        self.mirrors = mirrors
        self.directoryField = directoryField
        self.request = request
        self.retriesFailed = retriesFailed
        self.clientKey = clientKey
        self.asked = asked
        self.specification = specification
    }
}

/// The drafts of one call, each made when it is looked at: ten thousand at once would take a dozen megabytes.
public struct TaskDrafts: RandomAccessCollection, Sendable {
    public let endIndex: Int
    private let draft: @Sendable (Int) -> TaskDraft

    public init(count: Int, _ draft: @escaping @Sendable (Int) -> TaskDraft) {
        endIndex = count
        self.draft = draft
    }

    public var startIndex: Int { 0 }

    public subscript(position: Int) -> TaskDraft { draft(position) }
}

/// A draft that was judged: what becomes the task's row and, beside it, what it sends.
struct AdmittedTask: Sendable {
    var insertion: TaskInsertion
    let retriesFailed: Bool
    /// The URL as events show it.
    let shownURL: String
    /// Whether nothing in the database, a task before it in the same call included, decides how it is added: then it can
    /// be inserted together with others.
    let isIndependent: Bool
    /// What stands before a field's name in errors.
    let path: String

    var specification: TaskSpecification { _read { yield insertion.specification } }
}

extension [AdmittedTask] {
    /// Those that are added together, in order: independent ones, not too many in memory at a time, or one.
    var runs: [Range<Int>] {
        var runs: [Range<Int>] = []
        var isOpen = false
        for index in indices {
            let isIndependent = self[index].isIndependent
            if isOpen, isIndependent, let last = runs.last, last.count < 100 {
                runs[runs.count - 1] = last.lowerBound..<index + 1
            } else {
                runs.append(index..<index + 1)
            }
            isOpen = isIndependent
        }
        return runs
    }
}
