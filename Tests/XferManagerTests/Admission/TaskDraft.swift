import XferModel
import XferProtocol

@testable import XferManager

/// A task to add whose specification the test makes: it may be one that no client could ask for.
struct TaskDraft: AdmissibleTask {
    var firstURL: String
    var mirrors: [String]
    var requestFields: RequestFields
    var retriesFailed: Bool
    var clientKey: String?
    var requestText: String?
    /// Makes the specification around the request that was built of the URL and `requestFields`.
    private let specify: @Sendable (TransferRequest) -> TaskSpecification

    init(
        url: String, mirrors: [String] = [], request: RequestFields = RequestFields(), retriesFailed: Bool = false,
        clientKey: String? = nil, requestText: String? = nil,
        specify: @escaping @Sendable (TransferRequest) -> TaskSpecification
    ) {
        firstURL = url
        self.mirrors = mirrors
        requestFields = request
        self.retriesFailed = retriesFailed
        self.clientKey = clientKey
        self.requestText = requestText
        self.specify = specify
    }

    var directoryField: String { "dir" }
    var profile: String? { requestFields.profile }

    func specification(owner: Owner, request: TransferRequest, defaults: TaskDefaults) -> TaskSpecification {
        specify(request)
    }
}

extension TaskCommands {
    private static let unusedDefaults = TaskDefaults(directory: "/nonexistent")

    /// Adds all drafts in one transaction, or none.
    func add(
        _ drafts: [TaskDraft], for principal: Principal, path: @escaping @Sendable (Int) -> String = { _ in "" }
    ) async throws -> [AddedTask] {
        try await commit(drafts, Self.unusedDefaults, for: principal, path: path) { added, _, _ in added }
    }

    /// Adds one draft, and returns its task as committed.
    func add(_ draft: TaskDraft, for principal: Principal) async throws -> (task: TransferTask, isExisting: Bool) {
        try await commit([draft], Self.unusedDefaults, for: principal, path: { _ in "" }, Self.firstTask)
    }
}
