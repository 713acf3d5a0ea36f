import XferCore
import XferModel

extension TaskAdmission {
    /// The plain GET of a URL by this caller: content under its cache key is used by the caller's tasks.
    ///
    /// It is refused if a trust policy applies to the host. Content that no server sent has no evidence to judge, so
    /// `RunTrust.refusal(of:from:)` would never accept it.
    /// - Throws: `ManagerError`.
    func plainGet(_ url: String, cacheKey: CacheKeyRule?) async throws -> TaskSpecification {
        var fields = RequestFields()
        fields.cacheKey = Patch(cacheKey)
        let request = try build(fields, url: url, [], [], path: "").request
        let specification = TaskSpecification(owner: principal.owner, request: request, destination: .none)
        try await requests.check(specification, path: "")
        let applied: AppliedPolicies
        do throws(PolicyResolutionError) {
            applied = try policies.admit(request.url.origin, at: now)
        } catch {
            throw ManagerError(error, path: "")
        }
        guard applied.judgement == AppliedPolicies.ordinary.judgement else {
            throw ManagerError.rejectedByPolicy(
                path: "url",
                reason: "a trust policy applies to \(request.url.hostKey): only responses of its servers are used")
        }
        return specification
    }
}
