import Glibc
import XferManager
import XferModel
import XferSystem

/// The paths and the settings of one instance of the service, read before the service starts.
package struct Instance: Sendable {
    let options: DaemonOptions
    package let environment: [String: String]
    package let paths: InstancePaths
    package let loaded: LoadedSettings
    /// Warnings about files and directories that the configuration names and the service cannot use now.
    package let missing: [SettingsProblem]

    /// - Throws: `InstancePathsError`, `SettingsRejection`.
    package init(_ options: DaemonOptions, environment: [String: String] = ProcessEnvironment.all) throws {
        self.options = options
        self.environment = environment
        paths = try InstancePaths(
            flags: options.paths, environment: environment, uid: geteuid(),
            accountHome: AccountDirectory.home(of: geteuid()), hasDirectory: UserPlaces.isOwnDirectory)
        (loaded, missing) = try Self.load(options, environment, paths)
        SecretNames.setAdditional(loaded.settings.redaction.names)
    }

    /// Reads the settings and checks the named files again.
    func reloaded() throws -> (loaded: LoadedSettings, missing: [SettingsProblem]) {
        try Self.load(options, environment, paths)
    }

    private static func load(
        _ options: DaemonOptions, _ environment: [String: String], _ paths: InstancePaths
    ) throws -> (LoadedSettings, [SettingsProblem]) {
        let file = try ConfigurationFile.read(paths)
        let loaded = try LoadedSettings(
            flags: options.settings, environment: environment, file: file, instance: paths)
        let files = NamedFiles(loaded, file: file, instance: paths)
        guard files.problems.isEmpty else { throw SettingsRejection(problems: files.problems) }
        return (loaded, files.warnings)
    }

    /// Converts the settings to those of the manager.
    func managerSettings(_ loaded: LoadedSettings) -> ManagerSettings {
        let settings = loaded.settings
        var result = ManagerSettings(
            downloadDirectory: settings.download.directory, roots: settings.download.roots, ownUID: geteuid())
        result.ownRoots = loaded.ownRoots
        result.configurationFile = paths.configurationFile
        result.grants = AccessPolicy.load(settings, ownUID: geteuid()).policy.grants
        result.maxActive = settings.queue.maxActive
        result.maxActivePerHost = settings.queue.maxActivePerHost
        result.isPolite = settings.queue.isPolite
        result.order = settings.queue.order
        result.retryFor = settings.queue.retryFor.components.seconds
        result.maxStoredPerUser = settings.access.maxStored
        result.maxUndeliveredPerUser = settings.access.maxUndelivered
        result.negativeTTL = settings.sharing.negativeTTL.components.seconds
        result.sharesBetweenOwners = settings.sharing.betweenOwners
        result.cacheMaxBytes = settings.cache.maxBytes
        result.cacheMaxAge = settings.cache.maxAge.components.seconds
        result.bandwidth = settings.bandwidth.limits
        result.timetable = settings.bandwidth.timetable
        result.allowsHidden = settings.download.allowsHidden
        result.forbiddenDirectories = paths.forbiddenDirectories
        result.reserve = settings.download.reserve
        result.fileMode = fileMode
        result.checkpointBytes = settings.download.checkpointBytes
        result.checkpointInterval = settings.download.checkpointInterval
        result.segments = settings.download.segments
        result.leastRate = LeastRate(
            rate: settings.download.minReceiveRate, time: settings.download.minReceiveTime.inSeconds)
        result.engineLoops = settings.engine.loops
        result.uploadChunkSize = settings.upload.chunkSize
        result.largestResult = settings.results.maxBytes
        result.largestResultRatio = Int64(clamping: settings.results.maxRatio)
        result.authoritiesFile = settings.trust.authoritiesFile
        result.strictTransport = settings.trust.strictTransport
        result.admission = settings.network.admission
        result.admission.ownListeners = OwnListeners.addresses(settings.listen + settings.fleet.listen)
        result.usesEnvironmentProxies = settings.network.proxyFromEnvironment
        result.monitorsNetwork = settings.network.monitor
        result.meteredInterfaces = settings.network.meteredInterfaces
        result.environment = environment
        result.recordsCrashes = true
        result.maxClients = settings.rpc.maxClients
        result.credentialsDirectory = paths.credentialsDirectory
        result.policies = settings.trust.policies.map(\.policy)
        result.profiles = settings.profiles
        result.hooks = settings.hooks
        result.webhooks = settings.webhooks.map { $0.resolved() }
        result.retention.maxEvents = settings.events.maxCount
        result.retention.maxEventAge = settings.events.maxAge.components.seconds
        result.retention.maxHistory = settings.history.maxCount
        result.retention.maxHistoryAge = settings.history.maxAge.components.seconds
        return result
    }

    /// The mode of published files: 0640 in the system instance. In a user's instance it is 0666 without the bits of
    /// the umask.
    private var fileMode: UInt16 {
        guard paths.kind == .user else { return 0o640 }
        let mask = umask(0o077)
        umask(mask)
        return UInt16(clamping: 0o666 & ~mask)
    }
}
