import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferSystem

/// The directories that owners of tasks may use now: each owner's roots, with the owner's rights on every directory of
/// a path.
///
/// It is evaluated at each opening, because an owner's rights are not stored with a task.
final class OwnerRights: Sendable {
    private struct State {
        var settings: ManagerSettings
        var accounts: [UInt32: (account: Account?, seenAt: MonotonicInstant)] = [:]
    }

    /// How long a result of the account database is valid.
    private static let moment = Duration.seconds(60)

    private let lookUp: AccountLookup
    private let state: NIOLockedValueBox<State>

    init(_ settings: ManagerSettings, accounts: @escaping AccountLookup) {
        lookUp = accounts
        state = NIOLockedValueBox(State(settings: settings))
    }

    /// Applies new settings. Accounts are looked up again.
    func apply(_ settings: ManagerSettings) { state.withLockedValue { $0 = State(settings: settings) } }

    /// The directories for an owner's files. May block.
    func roots(of owner: Owner) -> AllowedRoots {
        let settings = state.withLockedValue(\.settings)
        let forbidden = settings.forbiddenDirectories
        guard !settings.isOperator(owner) else { return AllowedRoots(roots: settings.roots, forbidden: forbidden) }
        let user = user(owner)
        return AllowedRoots(
            roots: settings.grants.roots(of: user.uid, in: user.groups ?? []), forbidden: forbidden, users: [user])
    }

    /// The directories for a caller's files: both its owner's account and the calling process must have the rights. May
    /// block.
    func roots(of principal: Principal) -> AllowedRoots {
        let forbidden = state.withLockedValue(\.settings.forbiddenDirectories)
        guard !principal.isOperator else { return AllowedRoots(roots: principal.roots, forbidden: forbidden) }
        var users = [user(principal.owner)]
        if let gid = principal.groups.first {
            let caller = FileUser(uid: principal.owner.rawValue, gid: gid, groups: principal.groups)
            if !users.contains(caller) { users.append(caller) }
        }
        return AllowedRoots(roots: principal.roots, forbidden: forbidden, users: users)
    }

    /// The files that an owner may send. May block.
    func sources(of owner: Owner) -> SourceAdmission { Self.sources(roots(of: owner)) }

    /// As for an owner; the calling process must have the rights, too. May block.
    func sources(of principal: Principal) -> SourceAdmission { Self.sources(roots(of: principal)) }

    private static func sources(_ roots: AllowedRoots) -> SourceAdmission {
        roots.users.isEmpty ? SourceAdmission(forbidden: roots.forbidden) : SourceAdmission(roots)
    }

    private func user(_ owner: Owner) -> FileUser {
        let uid = owner.rawValue
        guard let account = account(uid) else { return FileUser(unknownAccount: uid) }
        return FileUser(uid: uid, gid: account.gid, groups: account.groups)
    }

    private func account(_ uid: UInt32) -> Account? {
        let now = Clocks.monotonic()
        let known = state.withLockedValue { $0.accounts[uid] }
        if let known, known.seenAt.duration(to: now) < Self.moment { return known.account }
        let found = lookUp(uid)
        state.withLockedValue { $0.accounts[uid] = (found, now) }
        return found
    }
}
