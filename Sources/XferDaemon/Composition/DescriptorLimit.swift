import Glibc

/// The limit on open files and sockets of the process (RLIMIT_NOFILE, getrlimit(2)).
enum DescriptorLimit {
    /// As the system's unit sets it; a daemon started by hand has 1,024 otherwise.
    private static let wanted: rlim_t = 65_536

    /// Raises the limit to `wanted`, as far as the hard limit allows. A higher one stays.
    ///
    /// Clients, connections, partial files and the database's readers all use descriptors.
    static func raise() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        _ = setrlimit(resource, &limit)
    }
}
