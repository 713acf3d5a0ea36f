import Glibc

/// How many files and sockets the process may have open (RLIMIT_NOFILE, getrlimit(2)).
enum DescriptorLimit {
    /// As the system's unit sets it; a daemon started by hand has 1,024 otherwise.
    private static let wanted: rlim_t = 65_536

    /// Raises the limit as far as it is wanted and as the administrator allows (the hard limit). A higher one stays.
    ///
    /// Clients, connections, partial files and the database's readers all take from it.
    static func raise() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        _ = setrlimit(resource, &limit)
    }
}
