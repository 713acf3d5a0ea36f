/// Who may import whom: the shape of the house.
///
/// SwiftPM's own check misses what comes in through a dependency's dependency, so a test compares every `import` in
/// `Sources` with this table. A row is a decision: change it only together with ARCHITECTURE.md.
enum ImportTable {
    /// What each target may import beside the standard library.
    static let rows: [String: Set<String>] = [
        // Values and decisions: nothing that can do I/O.
        "StrictJSON": [],
        "XferModel": ["FoundationEssentials"],
        "XferCore": ["XferModel", "DequeModule", "HeapModule", "OrderedCollections", "RawStructuredFieldValues"],

        // The system's clocks, processes, threads, socket addresses, networks and errors.
        "XferSystem": ["CCrash", "CLinux", "XferModel", "Glibc"],

        // Effects, each ignorant of the others.
        "XferCurl": posix + [
            "CCurl", "CLinux", "COpenSSL", "XferSystem", "XferModel", "XferCore", "NIOConcurrencyHelpers", "HeapModule",
        ],
        "XferFiles": posix + ["CCodings", "CLinux", "COpenSSL", "XferSystem", "XferModel", "SystemPackage"],
        "XferStore": posix + ["CSQLite", "GRDB", "GRDBSQLite", "StrictJSON", "XferSystem", "XferModel"],

        // The wire.
        "XferProtocol": ["StrictJSON", "XferModel", "OrderedCollections", "FoundationEssentials"],
        "XferAria2": ["XferProtocol", "XferModel", "StrictJSON"],
        "JSONRPC": posix + [
            "CLinux", "StrictJSON", "XferSystem", "XferModel", "NIOCore", "NIOPosix", "NIOHTTP1",
            "NIOConcurrencyHelpers",
        ],

        "XferGateway": posix + [
            "JSONRPC", "StrictJSON", "XferSystem", "XferProtocol", "XferAria2", "XferModel", "NIOCore", "NIOPosix",
            "NIOHTTP1", "NIOWebSocket", "NIOSSL", "NIOConcurrencyHelpers",
        ],

        // The service.
        "XferManager": posix + [
            "CCrash", "CLinux", "XferSystem", "XferCore", "XferStore", "XferCurl", "XferFiles", "XferProtocol",
            "XferModel", "StrictJSON", "Metrics", "NIOConcurrencyHelpers",
        ],
        "XferDaemon": posix + [
            "CLinux", "XferSystem", "XferManager", "XferProtocol", "XferModel", "JSONRPC", "XferGateway",
            "StrictJSON", "ServiceLifecycle", "Yams",
            "Metrics",
            "CoreMetrics", "NIOConcurrencyHelpers", "Dispatch", "UnixSignals", "DequeModule", "HeapModule",
            "_Concurrency",
        ],
        "xferd": ["CVersion", "XferDaemon", "XferModel", "ArgumentParser", "Glibc"],

        // The fleet: its tables in PostgreSQL, and the agent of a node.
        "XferFleet": posix + [
            "CLinux", "CPostgres", "XferCore", "XferDaemon", "XferGateway", "XferManager", "XferStore", "XferClient",
            "XferFiles", "XferProtocol", "JSONRPC", "XferSystem", "XferModel", "StrictJSON", "ServiceLifecycle",
            "UnixSignals", "NIOConcurrencyHelpers",
        ],
        "xfer-fleet": ["CVersion", "XferFleet", "XferDaemon", "XferModel", "ArgumentParser", "Glibc"],

        // The client.
        "XferClient": posix + [
            "XferProtocol", "XferSystem", "XferModel", "StrictJSON", "NIOCore", "NIOPosix", "NIOHTTP1", "NIOWebSocket",
            "NIOSSL", "NIOConcurrencyHelpers",
        ],
        "XferCommands": posix + [
            "CVersion", "XferAria2", "XferClient", "XferProtocol", "XferSystem", "XferModel",
            "StrictJSON", "ArgumentParser",
        ],
        "xferctl": ["XferCommands", "ArgumentParser", "Glibc"],
    ]

    /// No Swift: C libraries, each a modulemap and a shim, and what has to be C.
    static let cTargets: Set<String> = [
        "CCodings", "CCurl", "COpenSSL", "CSQLite", "CPostgres", "CLinux", "CCrash", "CVersion", "CEmptyICU",
    ]

    /// For tests only; may import any library.
    static let testSupport = "XferTestSupport"

    /// May be imported anywhere but in the pure targets.
    static let everywhere: Set<String> = ["Logging"]
    static let pure: Set<String> = ["StrictJSON", "XferModel", "XferCore"]

    private static let posix: Set<String> = ["Glibc", "FoundationEssentials"]

    /// Whether the table lets `target` import `module`.
    static func allows(_ target: String, _ module: String) -> Bool {
        guard let row = rows[target] else { return target == testSupport }
        return row.contains(module) || everywhere.contains(module) && !pure.contains(target)
    }
}

private func + (left: Set<String>, right: Set<String>) -> Set<String> { left.union(right) }
