import NIOConcurrencyHelpers
import XferFiles
import XferModel

/// What the owners of tasks may open, now: each its own roots, with its own rights on every directory on the way.
///
/// Asked at each opening, whoever has the task opened: what an owner may do is nothing that a task keeps.
final class OwnerRights: Sendable {
    private struct State {
        var settings: ManagerSettings
        var accounts: [UInt32: (account: Account?, seenAt: MonotonicInstant)] = [:]
    }

    /// How long what the account database said counts.
    private static let moment = Duration.seconds(60)

    private let lookUp: AccountLookup
    private let state: NIOLockedValueBox<State>

    init(_ settings: ManagerSettings, accounts: @escaping AccountLookup) {
        lookUp = accounts
        state = NIOLockedValueBox(State(settings: settings))
    }

    /// Takes new settings; accounts are looked up anew.
    func take(_ settings: ManagerSettings) { state.withLockedValue { $0 = State(settings: settings) } }

    /// Where an owner's files may go. May block.
    func roots(of owner: Owner) -> AllowedRoots {
        let settings = state.withLockedValue(\.settings)
        let forbidden = settings.forbiddenDirectories
        guard !settings.isOperator(owner) else { return AllowedRoots(roots: settings.roots, forbidden: forbidden) }
        let user = user(owner)
        return AllowedRoots(
            roots: settings.grants.roots(of: user.uid, in: user.groups ?? []), forbidden: forbidden, users: [user])
    }

    /// Where a caller's files may go: as of its owner, and as the process that calls could do it itself. May block.
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

    /// Which files an owner may have sent. May block.
    func sources(of owner: Owner) -> SourceAdmission { Self.sources(roots(of: owner)) }

    /// As of an owner, and as the process that calls could do it itself. May block.
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
