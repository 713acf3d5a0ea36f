import XferModel
import XferProtocol

/// What admission reads of a task that is to be added: URLs and paths are unchecked text.
///
/// The service adds `NewTask` only. Tests also add tasks whose specification no client could ask for.
protocol AdmissibleTask: Sendable {
    /// As the client wrote it, relative to the profile's base URL or absolute; user info in it becomes a credential.
    var firstURL: String { get }
    /// Further sources of the same bytes, written as `firstURL` but without user info; that is `urls[0]` then.
    var mirrors: [String] { get }
    /// The field that named the destination's directory, for errors: `dir` or `output`.
    var directoryField: String { get }
    /// The name of the profile whose defaults apply.
    var profile: String? { get }
    var requestFields: RequestFields { get }
    /// Whether the task is tried even if its URL is on the list of failed URLs.
    var retriesFailed: Bool { get }
    /// Makes the add safe to repeat. The specification contains it, too.
    var clientKey: String? { get }
    /// The client's request as text, if it has a `client_key`. It distinguishes a repeated add from another one with
    /// the same key, even if profile and settings have changed meanwhile. Nil compares the resulting specification.
    var asked: String? { get }

    /// The specification around the request that was built of `firstURL` and `requestFields`.
    func specification(owner: Owner, request: TransferRequest, defaults: TaskDefaults) -> TaskSpecification
}

extension NewTask: AdmissibleTask {
    var retriesFailed: Bool { retryFailed ?? false }
    var asked: String? { clientKey == nil ? nil : canonicalText }
}
