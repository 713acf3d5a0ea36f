import Glibc
import XferManager
import XferModel
import XferSystem

/// The paths and the settings of one instance of the service, read before the service starts.
package struct Instance: Sendable {
    package let options: DaemonOptions
    package let environment: [String: String]
    package let paths: InstancePaths
    package let loaded: LoadedSettings
    /// Warnings about files and directories that the configuration names and the service cannot use now.
    package let missing: [SettingsProblem]

    /// - Parameter refusesEntries: true if faults of entries of `access` are errors. A start only warns: a deleted
    ///   account, or a directory service that is down, must not stop the service.
    /// - Throws: `InstancePathsError`, `SettingsRejection` with all faults.
    package init(
        _ options: DaemonOptions, environment: [String: String] = ProcessEnvironment.all, refusesEntries: Bool = false
    ) throws {
        self.options = options
        self.environment = environment
        paths = try InstancePaths(
            flags: options.paths, environment: environment, uid: geteuid(),
            accountHome: AccountDirectory.home(of: geteuid()), hasDirectory: UserPlaces.isOwnDirectory)
        (loaded, missing) = try Self.load(options, environment, paths, refusesEntries: refusesEntries)
        SecretNames.setAdditional(loaded.settings.redaction.names)
    }

    /// Reads the settings and checks the named files again.
    func reloaded() throws -> (loaded: LoadedSettings, missing: [SettingsProblem]) {
        try Self.load(options, environment, paths)
    }

    private static func load(
        _ options: DaemonOptions, _ environment: [String: String], _ paths: InstancePaths, refusesEntries: Bool = false
    ) throws -> (LoadedSettings, [SettingsProblem]) {
        let file = try ConfigurationFile.read(paths)
        let (loaded, faults) = LoadedSettings.read(
            flags: options.settings, environment: environment, file: file, instance: paths)
        let files = NamedFiles(loaded, file: file, instance: paths)
        let problems = faults + files.problems + (refusesEntries ? files.entryProblems() : [])
        guard problems.isEmpty else { throw SettingsRejection(problems: problems) }
        return (loaded, files.warnings)
    }

    /// The sections of the configuration that name files of pins, certificates and secrets. Directories for downloads are
    /// not looked at: a disk that does not answer would block the reload.
    private static let sectionsOfFiles: Set<Substring> = ["trust", "listen", "fleet", "profiles", "webhooks"]

    /// The files of pins, certificates and secrets that the configuration's file, variables and options name, also if it
    /// has faults.
    var writtenPaths: Set<String> {
        let file = try? ConfigurationFile.read(paths)
        let root = file.flatMap { try? ConfigurationNode.parse(yaml: $0.text) }
        let variables = environment.filter { variable in
            Self.sectionsOfFiles.contains { variable.key.hasPrefix("XFERD_\($0.uppercased())") }
        }
        let flags = options.settings.filter { Self.isInSectionOfFiles($0.key) }
        let texts = (root?.texts(of: Self.isInSectionOfFiles) ?? []) + variables.values + flags.values
        return Set(
            texts.compactMap { text -> String? in
                if text.hasPrefix("~/") { return paths.home + text.dropFirst() }
                return text.hasPrefix("/") && text.utf8.count > 1 && !text.hasPrefix("/dev/") ? text : nil
            })
    }

    private static func isInSectionOfFiles(_ key: String) -> Bool { sectionsOfFiles.contains(key.prefix { $0 != "." }) }

    /// The settings of the manager, with what it has to know of the instance.
    func managerSettings(_ loaded: LoadedSettings) -> ManagerSettings {
        let settings = loaded.settings
        var result = settings.service
        result.ownRoots = loaded.ownRoots
        result.configurationFile = paths.configurationFile
        result.grants = AccessPolicy.load(settings, ownUID: geteuid()).policy.grants
        result.forbiddenDirectories = paths.forbiddenDirectories
        result.fileMode = fileMode
        result.admission.ownListeners = OwnListeners.addresses(settings.listen + settings.fleet.listen)
        result.environment = environment
        result.recordsCrashes = true
        result.socket = paths.socket
        result.credentialsDirectory = paths.credentialsDirectory
        result.policies = settings.policies.map(\.policy)
        result.webhooks = settings.webhooks.map { $0.resolved() }
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
