import Glibc

/// What the kernel should say about this process.
enum CurrentProcess {
    static var id: Int32 { getpid() }
    static var userID: UInt32 { geteuid() }
    static var groupID: UInt32 { getegid() }

    static var supplementaryGroupIDs: Set<UInt32> {
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(CInt(groups.count), &groups)
        return Set(groups.prefix(Int(max(0, count))))
    }
}
