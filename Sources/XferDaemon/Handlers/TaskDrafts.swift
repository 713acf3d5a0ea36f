import XferManager
import XferModel
import XferProtocol

extension NewTask {
    /// The task as the manager judges it.
    func draft(for principal: Principal, _ defaults: TaskDefaults) -> TaskDraft {
        TaskDraft(
            url: firstURL, mirrors: mirrors, directoryField: directoryField, request: requestFields,
            retriesFailed: retryFailed ?? false, clientKey: clientKey, asked: clientKey == nil ? nil : canonicalText
        ) { request in
            specification(owner: principal.owner, request: request, defaults: defaults)
        }
    }
}
