import XferModel
import XferProtocol
import XferStore

/// The parts of a new task that admission reads: URLs and paths are unchecked text.
///
/// The service adds `NewTask` only. Tests also add tasks with specifications that no client could request.
protocol AdmissibleTask: Sendable {
    /// The URL in the client's form, relative to the profile's base URL or absolute; user info in it becomes a
    /// credential.
    var firstURL: String { get }
    /// Further sources of the same bytes, written as `firstURL` but without user info; that is `urls[0]` then.
    var mirrors: [String] { get }
    /// The field that contains the destination's directory, for errors: `dir` or `output`.
    var directoryField: String { get }
    /// The name of the profile whose defaults apply.
    var profile: String? { get }
    var requestFields: RequestFields { get }
    /// True if the task makes a request even if its URL is on the list of failed URLs.
    var retriesFailed: Bool { get }
    /// Makes the add safe to repeat. The specification contains it, too.
    var clientKey: String? { get }
    /// The client's request as text, if it has a `client_key`. It distinguishes a repeated add from another one with
    /// the same key, even if profile and settings have changed meanwhile. Nil compares the resulting specification.
    var requestText: String? { get }

    /// The specification around the request that was built of `firstURL` and `requestFields`.
    func specification(owner: Owner, request: TransferRequest, defaults: TaskDefaults) -> TaskSpecification
}

extension NewTask: AdmissibleTask {
    var retriesFailed: Bool { retryFailed ?? false }
    var requestText: String? { clientKey == nil ? nil : canonicalText }
}

/// An accepted task: the task's row, and its content.
struct AdmittedTask: Sendable {
    var insertion: TaskInsertion
    let retriesFailed: Bool
    /// The URL as events show it.
    let shownURL: String
    /// True if adding it depends on nothing in the database, including earlier tasks of the same call. Then it can be
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
