import Glibc
import Logging
import NIOConcurrencyHelpers
import XferGateway
import XferManager
import XferModel
import XferProtocol

/// The settings in force, and their reload.
final class LiveConfiguration: Sendable {
    private struct State {
        var loaded: LoadedSettings
        var access: AccessPolicy
        var onAccessChange: (@Sendable (AccessPolicy) -> Void)?
        var onReload: (@Sendable () async -> Void)?
        /// The reason why the last read file is not in force.
        var rejection: String?
        /// The files that a rejected configuration names: its fault may be in one of them.
        var rejectedFiles: Set<String> = []
        /// Entries of the file that are not in force, because others were set over RPC, each with the way out.
        var conflicts: [String] = []
        /// Keys whose values in the file apply after a restart only.
        var waiting: [String] = []
    }

    private let instance: Instance
    private let manager: TransferManager
    private let log: ServiceLog
    private let logger: Logger
    private let state: NIOLockedValueBox<State>

    init(_ instance: Instance, manager: TransferManager, log: ServiceLog, logger: Logger) {
        self.instance = instance
        self.manager = manager
        self.log = log
        self.logger = logger
        let (access, warnings) = AccessPolicy.load(
            instance.loaded.settings, ownUID: geteuid(), ownRoots: instance.loaded.ownRoots)
        for warning in warnings { logger.warning("\(warning)") }
        state = NIOLockedValueBox(State(loaded: instance.loaded, access: access))
    }

    var path: String { instance.paths.configurationFile }
    /// Files whose contents are part of the configuration: pins, certificate authorities and listeners' certificates.
    /// While the configuration is rejected, also all those that it names.
    var namedFiles: Set<String> {
        let settings = loaded.settings
        let certificates = settings.listen.compactMap(\.tls).flatMap(\.files.files)
        return Set(
            settings.policies.flatMap(\.pinFiles) + [settings.service.authoritiesFile].compactMap(\.self) + certificates
        ).union(state.withLockedValue(\.rejectedFiles))
    }
    var loaded: LoadedSettings { state.withLockedValue(\.loaded) }
    var access: AccessPolicy { state.withLockedValue(\.access) }
    /// The reason why the configuration file is not in force; nil if it is.
    var rejection: String? { state.withLockedValue(\.rejection) }

    /// Entries of the file that are not in force, because others were set over RPC, each with the way out.
    var conflicts: [String] {
        let refused = state.withLockedValue(\.conflicts)
        return refused.isEmpty ? manager.conflicts.map(\.description) : refused
    }

    /// True if the whole file is in force as it was last read.
    var isInForce: Bool { rejection == nil && conflicts.isEmpty }

    /// Keys whose values in the file apply after a restart only.
    var keysWaitingForRestart: [String] { state.withLockedValue(\.waiting) }

    /// True if the file, the environment and the flags differ now from the values that were read. Blocks.
    var isOutdated: Bool {
        do {
            return try instance.reloaded().loaded != loaded
        } catch {
            // The reload reports the fault.
            return true
        }
    }

    /// True if the configuration was rejected, and could be read now. Blocks.
    var isRepaired: Bool {
        guard !state.withLockedValue(\.rejectedFiles).isEmpty else { return false }
        return (try? instance.reloaded()) != nil
    }

    func onAccessChange(_ body: @escaping @Sendable (AccessPolicy) -> Void) {
        state.withLockedValue { $0.onAccessChange = body }
    }

    /// Calls `body` after each successful reload.
    func onReload(_ body: @escaping @Sendable () async -> Void) { state.withLockedValue { $0.onReload = body } }

    /// Defaults for fields that new tasks do not set.
    var taskDefaults: TaskDefaults {
        let settings = loaded.settings
        return TaskDefaults(
            directory: settings.service.downloadDirectory,
            retry: RetryLimits(retryFor: settings.service.retryFor.components.seconds))
    }

    /// Logs the faults of a configuration that is not applied, one line each, and keeps them for `daemon.status`.
    ///
    /// - Parameter files: the files that the configuration names, in which a fault may be.
    private func reject(_ faults: [String], files: Set<String> = []) {
        for fault in faults { logger.error("\(fault)") }
        logger.error("the configuration has faults and was not applied")
        state.withLockedValue {
            $0.rejection = faults.joined(separator: "; ")
            $0.rejectedFiles = files
        }
    }

    /// Reads the configuration again; a faulty one changes nothing.
    ///
    /// - Parameter isRequested: true if an operator has requested it, false if a file has changed.
    func reload(isRequested: Bool) async {
        let newer: LoadedSettings
        let missing: [SettingsProblem]
        do {
            (newer, missing) = try instance.reloaded()
        } catch let rejection as SettingsRejection {
            return reject(rejection.problems.map { "\($0)" }, files: instance.writtenPaths)
        } catch {
            return reject(["the configuration cannot be read again: \(error)"])
        }
        let reload = loaded.reload(to: newer)
        do {
            try await manager.reload(instance.managerSettings(reload.inForce), isRequested: isRequested)
        } catch let error as ConfigurationConflicts {
            let conflicts = error.conflicts.map(\.description)
            state.withLockedValue { $0.conflicts = conflicts }
            return reject(conflicts)
        } catch {
            return reject(["\(error)"])
        }
        let (access, warnings) = AccessPolicy.load(
            reload.inForce.settings, ownUID: geteuid(), ownRoots: reload.inForce.ownRoots)
        for warning in warnings + newer.warnings + missing.map(\.description) { logger.warning("\(warning)") }
        let notify = state.withLockedValue { state in
            state.loaded = reload.inForce
            state.access = access
            state.rejection = nil
            state.rejectedFiles = []
            state.conflicts = []
            state.waiting = reload.waitingForRestart
            return state.onAccessChange
        }
        notify?(access)
        await state.withLockedValue(\.onReload)?()
        log.level = reload.inForce.settings.log.level
        let changed = reload.applied.isEmpty ? "nothing" : reload.applied.joined(separator: " ")
        logger.notice("configuration read again", metadata: ["changed": "\(changed)"])
        if !reload.waitingForRestart.isEmpty {
            logger.warning(
                "some changes need a restart",
                metadata: ["keys": "\(reload.waitingForRestart.joined(separator: " "))"])
        }
    }
}
