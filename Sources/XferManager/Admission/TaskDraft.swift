public import XferModel
import XferStore

/// A task as a client worded it: URLs and paths are unchecked text.
public struct TaskDraft: Sendable {
    /// As the client wrote it, relative to the profile's base URL or absolute; user info in it becomes a credential.
    public var url: String
    /// Further sources of the same bytes, written as `url` but without user info; `url` is `urls[0]` then.
    public var mirrors: [String]
    /// The field that named the destination's directory, for errors: `dir` or `output`.
    public var directoryField: String
    public var request: RequestFields
    /// Whether the task is tried even if its URL is on the list of failed URLs.
    public var retriesFailed: Bool
    /// Makes the add safe to repeat. The specification contains it, too.
    public var clientKey: String?
    /// The client's request as text. It distinguishes a repeated add from another one with the same `client_key`, even
    /// if profile and settings have changed meanwhile. Nil compares the resulting specification.
    public var asked: String?
    /// Makes the specification around the request that was built of `url` and `request`.
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

/// The drafts of one call. Each is made when it is read: ten thousand at once would take a dozen megabytes.
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

/// An accepted draft: the task's row, and what it sends.
struct AdmittedTask: Sendable {
    var insertion: TaskInsertion
    let retriesFailed: Bool
    /// The URL as events show it.
    let shownURL: String
    /// Whether adding it depends on nothing in the database, including earlier tasks of the same call. Then it can be
    /// inserted together with others.
    let isIndependent: Bool
    /// The prefix of field names in errors.
    let path: String

    var specification: TaskSpecification { _read { yield insertion.specification } }
}

extension [AdmittedTask] {
    /// The tasks that are added together, in order: either independent ones, limited to save memory, or a single one.
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
