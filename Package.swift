// swift-tools-version: 6.2
import PackageDescription

/// Settings every Swift target of the house is compiled with.
let house: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// How an optimised program is linked: small, and the same for the same objects. lld is part of the toolchain.
let lean: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "--icf=all", "-Xlinker", "--no-export-dynamic", "-Xlinker", "--build-id=sha1",
            "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "-z", "-Xlinker", "now",
        ], .when(configuration: .release))
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioWebSocket = Target.Dependency.product(name: "NIOWebSocket", package: "swift-nio")
let nioSSL = Target.Dependency.product(
    name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["TLS"]))
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioLocks = Target.Dependency.product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")

let structuredFields = Target.Dependency.product(
    name: "RawStructuredFieldValues", package: "swift-http-structured-headers")

/// Settings of code whose speed does not matter: it compiles in a third of the time. Without the second option the
/// compiler reads all of a module twice, once for its interface and once for its code.
let unoptimised =
    house + [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release))]

/// `embedded` are files of the target that become constants of its code.
func library(
    _ name: String, _ dependencies: [Target.Dependency] = [], embedded: [String] = [],
    settings: [SwiftSetting] = house
) -> Target {
    .target(
        name: name, dependencies: dependencies, resources: embedded.map { .embedInCode($0) }, swiftSettings: settings)
}

/// A library that no task passes through while it is transferred. The build for tests (.ci/options) does not optimise it.
func coldLibrary(_ name: String, _ dependencies: [Target.Dependency] = [], embedded: [String] = []) -> Target {
    library(
        name, dependencies, embedded: embedded,
        settings: Context.environment["XFER_BUILD_FOR_TESTS"] == nil ? house : unoptimised)
}

/// `fixtures` are read from the source tree by the tests themselves.
func tests(_ name: String, _ dependencies: [Target.Dependency], fixtures: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: fixtures, swiftSettings: unoptimised)
}

let package = Package(
    name: "xfer",
    products: [
        .executable(name: "xferd", targets: ["xferd"]),
        .executable(name: "xferctl", targets: ["xferctl"]),
        .executable(name: "xfer-fleet", targets: ["xfer-fleet"]),
        // The client library, with the modules that declare the records of its API.
        .library(name: "XferClient", targets: ["XferClient", "XferProtocol", "XferModel", "StrictJSON"]),
    ],
    traits: [
        .default(enabledTraits: ["TLS"]),
        // BoringSSL takes longer to compile than all the rest of the libraries.
        .trait(name: "TLS", description: "TLS for listeners and xferctl --server."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", exact: "1.7.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        // C libraries, each a modulemap and a shim.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CCodings", providers: [.apt(["zlib1g-dev"])]),

        // C, because a signal handler may run none of Swift's runtime.
        .target(name: "CCrash"),
        // The commit that is built, for --version (XFER_COMMIT).
        .target(
            name: "CVersion",
            cSettings: Context.environment["XFER_COMMIT"].map { [.define("XFER_COMMIT", to: "\"\($0)\"")] } ?? []),
        // C, because it defines a symbol of a library's.
        .target(name: "CEmptyICU"),

        // Values and decisions.
        library("StrictJSON"),
        library("XferModel"),
        library("XferCore", ["XferModel", deque, structuredFields]),

        // The system's clocks, processes, threads, socket addresses, networks and errors.
        library("XferSystem", ["CCrash", "CLinux", "XferModel"]),

        // Effects, each ignorant of the others.
        library("XferCurl", ["CCurl", "CLinux", "COpenSSL", "XferSystem", "XferModel", "XferCore", nioLocks]),
        library("XferFiles", ["CCodings", "CLinux", "COpenSSL", "XferSystem", "XferModel", systemPackage]),
        library(
            "XferStore", ["CSQLite", "StrictJSON", "XferSystem", "XferModel", grdb, sqlite],
            embedded: ["Migrations/schema-20.sql"]),

        // The wire.
        library("XferProtocol", ["StrictJSON", "XferModel"]),
        coldLibrary("XferAria2", ["XferProtocol", "XferModel", "StrictJSON"]),
        library(
            "JSONRPC",
            ["CLinux", "StrictJSON", "XferSystem", "XferModel", nioCore, nioPosix, nioHTTP1, nioLocks]),
        coldLibrary(
            "XferGateway",
            [
                "JSONRPC", "StrictJSON", "XferSystem", "XferProtocol", "XferAria2", "XferModel", logging, nioCore,
                nioPosix, nioHTTP1, nioWebSocket, nioSSL, nioLocks,
            ],
            embedded: ["Web"]),

        // The service.
        library(
            "XferManager",
            [
                "CCrash", "CLinux", "XferSystem", "XferCore", "XferStore", "XferCurl", "XferFiles", "XferProtocol",
                "XferModel", "StrictJSON", logging, metrics, nioLocks,
            ]),
        library(
            "XferDaemon",
            [
                "CLinux", "XferSystem", "XferManager", "XferModel", "XferProtocol", "JSONRPC",
                "XferGateway", "StrictJSON", lifecycle, unixSignals, yams, logging, metrics, coreMetrics, nioLocks,
                deque, heap,
            ]),
        .executableTarget(
            name: "xferd", dependencies: ["CEmptyICU", "XferDaemon", "XferModel", "CVersion", argumentParser],
            swiftSettings: house, linkerSettings: lean),

        // The client.
        coldLibrary(
            "XferClient",
            [
                "XferProtocol", "XferSystem", "XferModel", "StrictJSON", nioCore, nioPosix, nioHTTP1, nioWebSocket,
                nioSSL, nioLocks,
            ]),
        coldLibrary(
            "XferCommands",
            [
                "CVersion", "XferAria2", "XferClient", "XferProtocol", "XferSystem", "XferModel",
                "StrictJSON", argumentParser,
            ]),
        .executableTarget(
            name: "xferctl", dependencies: ["XferCommands", argumentParser], swiftSettings: house,
            linkerSettings: lean),

        // The fleet: its tables in PostgreSQL, and the agent that makes a daemon one of its nodes.
        coldLibrary(
            "XferFleet",
            [
                "CLinux", "CPostgres", "XferCore", "XferDaemon", "XferGateway", "XferManager", "XferStore",
                "XferClient", "XferFiles", "XferProtocol", "JSONRPC", "XferSystem", "XferModel", "StrictJSON",
                lifecycle, unixSignals, logging, nioLocks,
            ],
            embedded: ["Tables/Schema"]),
        .executableTarget(
            name: "xfer-fleet",
            dependencies: ["CEmptyICU", "XferFleet", "XferDaemon", "XferModel", "CVersion", argumentParser],
            swiftSettings: house, linkerSettings: lean),

        // Programs that show the client library.
        .executableTarget(
            name: "xfer-example-download", dependencies: ["XferClient", "XferProtocol"], path: "Examples/Download",
            swiftSettings: house),
        .executableTarget(
            name: "xfer-example-many", dependencies: ["XferClient", "XferProtocol", "XferModel"],
            path: "Examples/Many", swiftSettings: house),

        // Agents without engines, for `make bench ROW=fleet`.
        .executableTarget(
            name: "fleet-bench", dependencies: ["XferFleet", "XferCore", "XferModel"],
            path: "Benchmarks/fleet", swiftSettings: house),

        // Tests.
        library(
            "XferTestSupport",
            [
                "StrictJSON", "XferModel", "XferCore", "XferSystem", "XferProtocol", "XferClient", "CLinux", "COpenSSL",
                nioCore,
                nioPosix, nioHTTP1, nioLocks, systemPackage,
            ], settings: unoptimised),
        tests("HouseRulesTests", []),
        tests("XferTestSupportTests", ["XferTestSupport", "XferSystem", "XferModel"]),
        tests("StrictJSONTests", ["StrictJSON", "XferTestSupport"]),
        tests("XferModelTests", ["XferModel", "XferTestSupport"]),
        tests("XferCoreTests", ["XferCore", "XferModel", "XferTestSupport"]),
        tests("XferCurlTests", ["XferCurl", "XferCore", "XferModel", "XferTestSupport", "COpenSSL", nioLocks]),
        tests("XferSystemTests", ["XferSystem", "CLinux", "XferModel", "XferTestSupport"]),
        tests("XferFilesTests", ["XferFiles", "XferSystem", "XferModel", "XferTestSupport"]),
        tests(
            "XferStoreTests", ["CSQLite", "XferStore", "XferSystem", "XferModel", "XferTestSupport", grdb, sqlite],
            fixtures: ["Fixtures"]),
        tests(
            "XferProtocolTests", ["XferProtocol", "StrictJSON", "XferModel", "XferTestSupport"],
            fixtures: ["Fixtures"]),
        tests(
            "XferClientTests",
            [
                "XferClient", "XferProtocol", "XferSystem", "XferModel", "StrictJSON", "XferTestSupport", nioCore,
                nioPosix, nioLocks,
            ]),
        tests("JSONRPCTests", ["JSONRPC", "StrictJSON", "XferTestSupport", nioCore, nioPosix, nioEmbedded]),
        tests("XferAria2Tests", ["XferAria2", "XferProtocol", "XferModel", "StrictJSON"]),
        tests(
            "XferGatewayTests",
            [
                "XferGateway", "XferAria2", "JSONRPC", "StrictJSON", "XferSystem", "XferProtocol", "XferModel",
                "XferTestSupport",
                logging, nioCore, nioLocks,
            ]),
        tests(
            "XferManagerTests",
            [
                "XferManager", "XferCore", "XferStore", "XferFiles", "XferCurl", "XferProtocol",
                "XferSystem", "XferModel",
                "XferTestSupport", logging, nioLocks,
            ]),
        tests(
            "XferDaemonTests",
            [
                "XferDaemon", "XferManager", "XferGateway", "XferSystem", "XferModel", "XferProtocol", "StrictJSON",
                "XferTestSupport", logging,
                coreMetrics,
                nioLocks,
            ]),
        tests(
            "XferCommandsTests",
            [
                "XferCommands", "XferAria2", "XferClient", "XferProtocol", "XferSystem", "XferModel", "StrictJSON",
                "XferTestSupport", nioLocks,
                argumentParser,
            ]),
        tests(
            "ReferenceTests",
            ["XferDaemon", "XferManager", "XferCommands", "XferAria2", "XferProtocol", "XferModel", "StrictJSON"]),
        tests(
            "EndToEndTests", ["XferClient", "XferProtocol", "XferModel", "StrictJSON", "XferTestSupport", nioLocks],
            fixtures: ["Fixtures"]),
        tests(
            "XferFleetTests",
            [
                "XferFleet", "XferCore", "XferDaemon", "XferProtocol", "XferModel", "XferTestSupport", "StrictJSON",
                nioLocks,
            ]),
        // Parsers of outside input, each as a function of bytes.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "StrictJSON", "JSONRPC", "XferProtocol", "XferModel", "XferCore", "XferCurl", "XferFiles", "XferSystem",
                "XferDaemon", nioCore, nioHTTP1, nioEmbedded,
            ],
            path: "Tests/FuzzTargets",
            swiftSettings: Context.environment["XFER_FUZZ"] == nil ? unoptimised : house),
        tests("FuzzTests", ["FuzzTargets", "XferTestSupport"], fixtures: ["Corpus"]),
    ]
)

// The fuzzer links only with -sanitize=fuzzer, so it is not part of an ordinary build (.ci/fuzz).
if Context.environment["XFER_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/CFuzzer"),
        .executableTarget(
            name: "xfer-fuzz", dependencies: ["FuzzTargets", "CFuzzer"], path: "Tests/Fuzzer", swiftSettings: house),
    ]
}

// XFER_SUITES=XferCoreTests,XferFilesTests builds those test targets alone: all of them take minutes.
if let only = Context.environment["XFER_SUITES"]?.split(separator: ",").map(String.init), !only.isEmpty {
    package.targets.removeAll { $0.type == .test && !only.contains($0.name) }
}
