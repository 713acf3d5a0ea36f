/// Every method there is, in the order of the document. The daemon checks at start that each has a handler.
public enum MethodRegistry {
    public static let all: [any RPCMethod.Type] = [
        TaskAdd.self, TaskGet.self, TaskList.self, TaskWait.self, TaskPause.self, TaskResume.self, TaskCancel.self,
        TaskRetry.self, TaskRemove.self, TaskUpdate.self, TaskMove.self, TaskSetSource.self,
        TaskCommit.self, TaskRead.self, TaskResult.self,
        QueueStats.self, QueuePause.self, QueueResume.self, QueueSetLimits.self,
        BatchAdd.self, BatchGet.self,
        GroupList.self, GroupGet.self, GroupSet.self, GroupPause.self, GroupResume.self, GroupRemove.self,
        SlotGet.self, SlotDetach.self, SlotCancel.self,
        CacheStats.self, CacheList.self, CacheGet.self, CacheRemove.self, CacheClear.self, CacheTrim.self,
        FailedURLList.self, FailedURLRemove.self, FailedURLClear.self,
        PolicyList.self, PolicyGet.self, PolicySet.self, PolicyRemove.self, PolicyTest.self, PolicyPin.self,
        ProfileList.self, ProfileGet.self, ProfileSet.self, ProfileRemove.self,
        HookList.self,
        EventsSubscribe.self, EventsUnsubscribe.self, EventsSince.self,
        NetworkStatus.self,
        DaemonStatus.self, DaemonConfig.self, DaemonShutdown.self,
        RPCDiscover.self,
    ]

    /// The method with this name.
    public static func method(named name: String) -> (any RPCMethod.Type)? { byName[name] }

    /// The name a caller most likely meant, nil when none is near.
    public static func suggestion(for name: String) -> String? { all.map { $0.name }.closest(to: name) }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
