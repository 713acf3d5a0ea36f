import Testing
import XferManager
import XferModel
import XferProtocol

@testable import XferDaemon

@Suite struct AccessPolicyTests {
    private let policy = AccessPolicy(
        ownUID: 990, operatorRoots: ["/srv"],
        users: [
            1001: .init(roots: ["/home/ann"], maxTasks: 5, maxPriority: .high),
            65534: .init(roots: ["/tmp"]),
            0: .init(roots: ["/root"]),
        ],
        groups: [
            100: .init(roots: ["/a", "/b"], maxTasks: 10, maxPriority: .low),
            200: .init(roots: ["/b", "/c"], maxTasks: 7, maxPriority: .normal),
        ])

    @Test(arguments: [990, 0] as [UInt32])
    func theDaemonsUserAndRootAreOperatorsWithoutLimits(uid: UInt32) throws {
        let caller = try policy.caller(Peer(uid: uid, gid: 100, groups: [200]))
        #expect(caller.isOperator)
        #expect(caller.roots == ["/srv"])
        #expect(caller.maxTasks == nil)
        #expect(caller.maxPriority == .high)
        #expect(caller.owner == Owner(uid: uid))
    }

    @Test func onlyLocalCallersWithTheDaemonsOwnUIDHaveItsOwnRoots() throws {
        let policy = AccessPolicy(ownUID: 990, operatorRoots: ["/srv"], ownRoots: ["/"])
        #expect(try policy.caller(Peer(uid: 990, gid: 1), isLocal: true).roots == ["/"])
        // A token that acts for the user, and root.
        #expect(try policy.caller(Peer(uid: 990, gid: 1)).roots == ["/srv"])
        #expect(try policy.caller(Peer(uid: 0, gid: 0), isLocal: true).roots == ["/srv"])
    }

    @Test func usersWithoutAGrantAreRefused() {
        #expect(throws: AccessPolicy.Refusal.notAllowed(uid: 1002)) {
            try policy.caller(Peer(uid: 1002, gid: 1002, groups: [27]))
        }
    }

    @Test func theOverflowUIDIsAlwaysRefused() {
        let peer = Peer(uid: 65534, gid: 100, groups: [200])
        #expect(throws: AccessPolicy.Refusal.overflowUser) { try policy.caller(peer) }
        let own = AccessPolicy(ownUID: 65534, operatorRoots: [])
        #expect(throws: AccessPolicy.Refusal.overflowUser) { try own.caller(peer) }
    }

    @Test func aUsersOwnGrantOverridesGroupGrants() throws {
        let caller = try policy.caller(Peer(uid: 1001, gid: 100, groups: [200]))
        #expect(!caller.isOperator)
        #expect(caller.roots == ["/home/ann"])
        #expect(caller.maxTasks == 5)
        #expect(caller.maxPriority == .high)
    }

    @Test func grantsOfSeveralGroupsAreUnited() throws {
        let caller = try policy.caller(Peer(uid: 1003, gid: 200, groups: [100, 200, 5]))
        #expect(caller.roots == ["/a", "/b", "/c"])
        #expect(caller.maxTasks == 10)
        #expect(caller.maxPriority == .normal)
        #expect(try policy.caller(Peer(uid: 1003, gid: 5, groups: [200])).roots == ["/b", "/c"])
    }

    @Test(arguments: MethodAccess.allCases)
    func aGuestMayCallAllMethodsButTheOperators(access: MethodAccess) throws {
        #expect(try policy.caller(Peer(uid: 1001, gid: 1001)).mayCall(access) == (access != .operators))
        #expect(try policy.caller(Peer(uid: 0, gid: 0)).mayCall(access))
    }
}

@Suite struct AccountDirectoryTests {
    private let accounts = AccountDirectory(uid: { ["ann": 1001, "bea": 1001][$0] }, gid: { ["staff": 50][$0] })

    @Test func namesBecomeIDsAndUnknownNamesAreWarnedAbout() throws {
        var settings = Settings(defaultsFor: try userInstance())
        settings.service.roots = ["/srv"]
        settings.access.users = [
            "ann": .init(roots: ["/a"]), "1002": .init(roots: ["/b"]), "zed": .init(roots: ["/z"]),
        ]
        settings.access.groups = ["staff": .init(roots: ["/s"])]
        let (policy, warnings) = AccessPolicy.load(settings, ownUID: 990, accounts: accounts)
        #expect(warnings == ["access.users.zed: there is no such user, the entry is left out"])
        #expect(try policy.caller(Peer(uid: 1001, gid: 1)).roots == ["/a"])
        #expect(try policy.caller(Peer(uid: 1002, gid: 1)).roots == ["/b"])
        #expect(try policy.caller(Peer(uid: 1003, gid: 50)).roots == ["/s"])
        #expect(try policy.caller(Peer(uid: 990, gid: 1)).roots == ["/srv"])
    }

    @Test func twoNamesOfOneUserAreWarnedAbout() throws {
        var settings = Settings(defaultsFor: try userInstance())
        settings.access.users = ["ann": .init(roots: ["/a"]), "bea": .init(roots: ["/b"])]
        let (policy, warnings) = AccessPolicy.load(settings, ownUID: 990, accounts: accounts)
        #expect(warnings == ["access.users.bea: user 1001 occurs twice, this entry applies"])
        #expect(try policy.caller(Peer(uid: 1001, gid: 1)).roots == ["/b"])
    }

    @Test func anEntryOfTheUserWhoRepresentsAllUnknownOnesIsWarnedAbout() throws {
        var settings = Settings(defaultsFor: try userInstance())
        settings.access.users = ["65534": .init(roots: ["/a"])]
        let (_, warnings) = AccessPolicy.load(settings, ownUID: 990, accounts: accounts)
        #expect(
            warnings == [
                "access.users.65534: uid 65534 represents every unknown user and is never allowed, the entry has no effect"
            ])
    }

    @Test func theSystemsUserDatabaseIsQueried() {
        #expect(AccountDirectory.system.uid("root") == 0)
        #expect(AccountDirectory.system.gid("root") == 0)
        #expect(AccountDirectory.system.uid("nobody-has-this-name") == nil)
        #expect(AccountDirectory.system.gid("nobody-has-this-name") == nil)
        #expect(AccountDirectory.home(of: 0) == "/root")
        #expect(AccountDirectory.home(of: 4_000_000_000) == nil)
    }
}

@Suite struct TaskOwnersTests {
    private let owners = TaskOwners {
        AccessPolicy(ownUID: 990, operatorRoots: [], users: [1001: .init(roots: ["/home/ann"])])
    }

    /// As the agent of a fleet adds the tasks of its node's users.
    @Test func tasksThatAnOperatorAddsForAUserHaveTheUsersRightsAndMayNameALease() throws {
        let agent = try owners.access().caller(Peer(uid: 990, gid: 990))
        var task = NewTask(url: "http://localhost/a")
        task.owner = "1001"
        let principal = try owners.principal(adding: [task], by: agent)
        #expect(principal.owner == Owner(uid: 1001) && !principal.isOperator && principal.roots == ["/home/ann"])
        #expect(principal.mayNameLeases)
    }

    @Test func aUserAddsForNobodyElseAndNamesNoLease() throws {
        let user = try owners.access().caller(Peer(uid: 1001, gid: 1001))
        #expect(try !owners.principal(adding: [NewTask(url: "http://localhost/a")], by: user).mayNameLeases)
        var task = NewTask(url: "http://localhost/a")
        task.owner = "0"
        #expect(throws: ManagerError.self) { try owners.principal(adding: [task], by: user) }
    }
}
