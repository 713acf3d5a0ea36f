import XferManager
import XferModel
import XferProtocol

/// Determines the owner of added tasks: the caller, or a user whom an operator chooses.
struct TaskOwners: Sendable {
    /// The permissions in force.
    let access: @Sendable () -> AccessPolicy

    /// The rights with which a call's tasks are added. May block, since it looks up the user.
    ///
    /// - Parameter path: the prefix of the field names of each task in errors.
    /// - Throws: `ManagerError`.
    func principal(
        adding tasks: [NewTask], by caller: Caller, path: (Int) -> String = { _ in "" }
    ) throws -> Principal {
        guard let place = tasks.firstIndex(where: { $0.owner != nil }), let name = tasks[place].owner else {
            return caller.principal
        }
        let field = path(place) + "owner"
        guard caller.isOperator else {
            throw ManagerError.permissionDenied(path: field, reason: "only operators may add tasks for another user")
        }
        if let other = tasks.firstIndex(where: { $0.owner != name }) {
            throw ManagerError.invalidField(
                path: path(other) + "owner", reason: "another task of the call is \(name)'s",
                expected: "one owner for all tasks of a call")
        }
        guard let owner = AccountDirectory.system.owner(name) else {
            throw ManagerError.invalidField(
                path: field, reason: "there is no user \"\(name)\"", expected: "a user's name or uid")
        }
        let account = AccountDirectory.account(owner.rawValue)
        let peer = Peer(
            uid: owner.rawValue, gid: account?.gid ?? AccessPolicy.overflowUID, groups: account?.groups ?? [])
        do throws(AccessPolicy.Refusal) {
            var principal = try access().caller(peer).principal
            principal.mayNameLeases = true
            return principal
        } catch {
            throw ManagerError.invalidField(
                path: field, reason: error.description, expected: "a user who may add tasks here")
        }
    }
}
