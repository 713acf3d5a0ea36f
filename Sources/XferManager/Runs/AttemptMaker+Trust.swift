import Logging
import XferCore
import XferModel
import XferStore

/// Reports to operators how an attempt's connections were judged.
extension AttemptMaker {
    /// Reports at once what `report_only` policies would have refused. Refusals are part of the outcome.
    func report(_ verdict: TrustVerdict) async throws {
        guard !verdict.violations.isEmpty else { return }
        for violation in verdict.violations {
            services.logger.warning(
                "a trust policy that only reports would have refused a server",
                metadata: ["task": "\(taskID)", "failure": "\(violation)"])
        }
        let (ids, now) = (audience, services.clock())
        try await services.store.write { tx in
            for id in ids {
                guard let task = try tx.task(id) else { continue }
                for violation in verdict.violations {
                    try tx.append(.policyViolation(failure: violation), taskID: id, owner: task.owner, at: now)
                }
            }
        }
    }

    /// Reminds operators of policies with `allow_invalid_certificates` that were used.
    func logLaxTrust() {
        for use in trust.removeLaxUses() {
            services.logger.warning(
                "a trust policy allows invalid certificates",
                metadata: [
                    "policy": "\(use.policy)", "version": "\(use.version)", "host": "\(use.host)", "task": "\(taskID)",
                ])
        }
    }
}
