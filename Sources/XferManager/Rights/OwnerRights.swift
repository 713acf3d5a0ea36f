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

    /// The time for which a result of the account database is valid.
    private static let moment = Duration.seconds(60)

    private let lookUp: AccountLookup
    private let state: NIOLockedValueBox<State>

    init(_ settings: ManagerSettings, accounts: @escaping AccountLookup) {
        lookUp = accounts
        state = NIOLockedValueBox(State(settings: settings))
    }

    /// Applies new settings. Accounts are looked up again.
    func apply(_ settings: ManagerSettings) { state.withLockedValue { $0 = State(settings: settings) } }

    /// The directory of the setting `download.dir`.
    var downloadDirectory: String { state.withLockedValue(\.settings.downloadDirectory) }

    func isOperator(_ owner: Owner) -> Bool { state.withLockedValue { $0.settings.isOperator(owner) } }

    /// The directories for an owner's files. May block.
    func roots(of owner: Owner) -> AllowedRoots {
        if let known = knownRoots(of: owner) { return known }
        let user = user(owner)
        return state.withLockedValue { $0.settings.roots(ofGuest: user) }
    }

    /// The directories for the files of a task: its owner's, as far as a confined task may use them. May block.
    func roots(of owner: Owner, _ confinement: Confinement?) -> AllowedRoots {
        let all = roots(of: owner)
        return confinement.map { all.limited(by: .confined($0)) } ?? all
    }

    /// The directories for the files of an owner's tokens: `download.roots` for operators, also where the operator
    /// itself may write anywhere. May block.
    func rootsOfTokens(of owner: Owner) -> AllowedRoots {
        let confined: AllowedRoots? = state.withLockedValue { state in
            guard state.settings.isOperator(owner) else { return nil }
            return AllowedRoots(roots: state.settings.roots, forbidden: state.settings.forbiddenDirectories)
        }
        return confined ?? roots(of: owner)
    }

    /// The directories for the destination of a task, as they were when it was added, without waiting; nil if the
    /// account database would have to be queried.
    func knownDestinationRoots(of task: TaskSpecification) -> AllowedRoots? {
        knownRoots(of: task.owner)?.limited(by: limit(of: task.destination))
    }

    /// The directories for the destination of a task that a caller adds or changes. May block.
    func destinationRoots(_ destination: Destination, of principal: Principal) -> AllowedRoots {
        roots(of: principal).limited(by: limit(of: destination))
    }

    private func limit(of destination: Destination) -> PathLimit {
        state.withLockedValue { state in
            if let confinement = destination.confinement { return .confined(confinement) }
            guard !destination.allowsHidden, !state.settings.allowsHidden else { return .none }
            return .noHiddenNamesInHomes(configured: state.settings.downloadDirectory)
        }
    }

    /// `roots(of:)` without blocking: nil if it would have to query the account database.
    func knownRoots(of owner: Owner) -> AllowedRoots? {
        state.withLockedValue { state in
            guard !state.settings.isOperator(owner) else { return state.settings.roots(ofOperator: owner) }
            let uid = owner.rawValue
            guard let known = state.accounts[uid], known.seenAt.duration(to: Clocks.monotonic()) < Self.moment else {
                return nil
            }
            return state.settings.roots(ofGuest: FileUser(uid: uid, known.account))
        }
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

    /// Like `sources(of:)` for an owner; the calling process must have the rights, too. May block.
    func sources(of principal: Principal) -> SourceAdmission { Self.sources(roots(of: principal)) }

    private static func sources(_ roots: AllowedRoots) -> SourceAdmission {
        roots.users.isEmpty ? SourceAdmission(forbidden: roots.forbidden) : SourceAdmission(roots)
    }

    private func user(_ owner: Owner) -> FileUser {
        FileUser(uid: owner.rawValue, account(owner.rawValue))
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

extension ManagerSettings {
    /// The directories for an operator's files, as far as a confined task may use them.
    func roots(ofOperator owner: Owner, _ confinement: Confinement? = nil) -> AllowedRoots {
        AllowedRoots(
            roots: owner.rawValue == ownUID ? ownRoots : roots, forbidden: forbiddenDirectories,
            limit: confinement.map { .confined($0) } ?? .none)
    }

    fileprivate func roots(ofGuest user: FileUser) -> AllowedRoots {
        AllowedRoots(
            roots: grants.roots(of: user.uid, in: user.groups ?? []), forbidden: forbiddenDirectories, users: [user])
    }
}

extension FileUser {
    /// - Parameter account: nil if the account database does not have the user.
    fileprivate init(uid: UInt32, _ account: Account?) {
        if let account {
            self.init(uid: uid, gid: account.gid, groups: account.groups)
        } else {
            self.init(unknownAccount: uid)
        }
    }
}

/// Directories beneath which users that are not operators may write and read, by user and by group.
public struct RootGrants: Hashable, Sendable {
    /// The directories by uid; absolute paths.
    public var users: [UInt32: [String]]
    /// The directories by gid.
    public var groups: [UInt32: [String]]
    /// The names of users by uid, as the configuration file has them.
    public var names: [UInt32: String]

    public init(
        users: [UInt32: [String]] = [:], groups: [UInt32: [String]] = [:], names: [UInt32: String] = [:]
    ) {
        self.users = users
        self.groups = groups
        self.names = names
    }

    /// The user as the configuration file names it, else the uid.
    func name(of owner: Owner) -> String { names[owner.rawValue] ?? "\(owner.rawValue)" }

    /// A grant to the user replaces those of its groups; otherwise the grants of all its groups are combined.
    func roots(of uid: UInt32, in groups: Set<UInt32>) -> [String] {
        if let own = users[uid] { return own }
        return groups.sorted().flatMap { self.groups[$0] ?? [] }.reduce(into: []) { roots, root in
            if !roots.contains(root) { roots.append(root) }
        }
    }
}

/// A user's groups, according to the system's account database.
public struct Account: Hashable, Sendable {
    /// The id of the user's primary group.
    public var gid: UInt32
    /// All its groups.
    public var groups: [UInt32]

    public init(gid: UInt32, groups: [UInt32]) {
        self.gid = gid
        self.groups = groups
    }
}

/// Looks up a user; nil if the account database does not have it. May block, also on the network.
public typealias AccountLookup = @Sendable (_ uid: UInt32) -> Account?
