import XferCore
import XferCurl
public import XferModel
import XferStore

/// Changes the URL of a download.
extension TaskCommands {
    /// Sets another URL for a download that does not run. If it waits because of its previous URL or has failed, it is
    /// retried. Kept bytes are continued only under the resume rules.
    ///
    /// The task's credential stays bound to its origin and is not sent to another server. User info in the new URL
    /// replaces it.
    /// - Throws: `ManagerError`.
    public func setSource(of id: TaskID, to text: String, for principal: Principal) async throws -> TransferTask {
        let admission = admission(for: principal)
        var wanted = try await queries.task(id, for: principal).specification
        let parsed = try admission.resolve(text, against: nil, keepsPath: wanted.request.keepsPath, path: "")
        let isRestricted = wanted.isRestricted || settings.restricts(principal, taskOf: wanted.owner)
        let isGuests = isRestricted || !settings.isOperator(wanted.owner)
        wanted.replaceURL(with: parsed.url, userInfo: parsed.credential, isGuests: isGuests)
        try admission.checkTrust(wanted, path: "")
        if principal.isConfined {
            var directories = TaskAdmission.KnownDirectories()
            try await admission.admitDestination(of: &wanted, knowing: &directories, path: "", directoryField: "id")
        }
        let confinement = wanted.destination.confinement
        let now = clock()
        let (task, effects) = try await translatingStoreErrors {
            try await store.write { [coalesceKeys] tx in
                guard let task = try tx.visibleTask(id, to: principal) else { throw ManagerError.notFound(id) }
                guard task.specification.kind == .download else {
                    throw ManagerError.invalidState(id, task.state, reason: "only a download can get another source")
                }
                guard [.queued, .waiting, .paused, .failed].contains(task.state) else {
                    throw ManagerError.invalidState(
                        id, task.state,
                        reason: "its source can be changed only while it is queued, waiting, paused or failed")
                }
                var machine = TaskStateMachine(task)
                machine.respecify {
                    $0.replaceURL(with: parsed.url, userInfo: parsed.credential, isGuests: isGuests)
                    $0.isRestricted = isRestricted
                    if principal.isConfined { $0.destination.confinement = confinement }
                }
                try tx.requireConfinedName(of: machine.task)
                try coalesceKeys.renew(&machine, in: tx, at: now)
                try tx.transfers.forgetFormerSource(of: machine.task)
                let transition = machine.onNewSource(at: now)
                try tx.write(machine, transition, at: now)
                // The retry delay that the previous URL's server requested does not apply to the new one.
                try tx.cooldowns.expire(causedBy: [id])
                // As a retried task it takes its slot again.
                let effects = task.state == .failed ? try tx.supersede(by: machine.task, at: now) : []
                return (machine.task, effects)
            }
        }
        await scheduler.perform(effects)
        await scheduler.schedule()
        return task
    }
}

extension TaskSpecification {
    /// Replaces the URL of a source.
    ///
    /// - Parameter isGuests: true if the owner is a guest, which may not decide where a profile's secrets are sent.
    fileprivate mutating func replaceURL(with url: HTTPURL, userInfo: Credential?, isGuests: Bool) {
        let origin = request.url.origin
        if isGuests, profile != nil, url.origin != origin { ProfileSecretRules.unbind(&request) }
        request.url = url
        if let userInfo {
            request.credential =
                request.credential?.scheme == .netrc ? request.credential?.renewed(by: userInfo) : userInfo
        } else if let credential = request.credential, credential.origins.isEmpty {
            request.credential?.origins = [origin]
        }
    }
}

extension TransferTable where Store == StoreTransaction {
    /// Removes the record that the previous first source sent wrong bytes, or answers that did not look like the file:
    /// it does not apply to the new one.
    fileprivate func forgetFormerSource(of task: TransferTask) throws {
        guard let id = task.transferID, let known = try find(id) else { return }
        var use = known.sourceUse
        use.suspects.remove(0)
        use.excluded.remove(0)
        if use != known.sourceUse { try setSourceUse(use, of: id) }
        guard known.resumeData.doubt != nil else { return }
        var resumeData = known.resumeData
        resumeData.doubt = nil
        try update(resumeData: resumeData, of: id)
    }
}
