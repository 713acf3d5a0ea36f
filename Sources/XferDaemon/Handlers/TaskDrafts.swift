import XferManager
import XferModel
import XferProtocol

extension NewTask {
    /// The draft of the task for the manager.
    func draft(for principal: Principal, _ defaults: TaskDefaults) -> TaskDraft {
        TaskDraft(
            url: firstURL, mirrors: mirrors, directoryField: directoryField, request: requestFields,
            retriesFailed: retryFailed ?? false, clientKey: clientKey, asked: clientKey == nil ? nil : canonicalText
        ) { request in
            specification(owner: principal.owner, request: request, defaults: defaults)
        }
    }
}
