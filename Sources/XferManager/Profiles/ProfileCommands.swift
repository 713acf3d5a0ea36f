import Logging
import XferCore
import XferCurl
import XferFiles
public import XferModel
import XferStore

/// Reads and changes profiles. Existing tasks keep the values they were added with; the credential, the client
/// certificate and the cookies are looked up by the profile's name at every attempt.
public struct ProfileCommands: ManagerPart, Sendable {
    let context: ManagerContext
    let queue: QueueControl

    /// All profiles by name.
    ///
    /// - Throws: `ManagerError`.
    public func list() async throws -> [ProfileEntry] {
        await context.findDamagedRows()
        return try await translatingStoreErrors { try await store.read { try $0.profiles.all() } }.map {
            ProfileEntry($0)
        }
    }

    /// Returns a profile.
    ///
    /// - Throws: `ManagerError.profileNotFound`.
    public func get(_ name: String) async throws -> ProfileEntry {
        let found: StoredProfile?
        do {
            found = try await translatingStoreErrors { try await store.read { try $0.profiles.find(named: name) } }
        } catch StoreError.unreadable {
            await context.findDamagedRows()
            throw ManagerError.damagedProfile(name, path: "name")
        }
        guard let found else { throw ManagerError.profileNotFound(name) }
        return ProfileEntry(found)
    }

    /// Writes a profile, replacing the one of that name.
    ///
    /// - Parameter path: the prefix of field names in errors.
    /// - Throws: `ManagerError`; nothing is stored then.
    public func set(_ profile: Profile, path: String = "") async throws -> ProfileEntry {
        do throws(RequestFault) {
            try ProfileRules.check(profile)
        } catch {
            throw ManagerError(error, path: path)
        }
        if let hook = profile.credentialHook, !settings.hooks.contains(where: { $0.name == hook }) {
            throw ManagerError.invalidField(
                path: path + "credential_hook", reason: "there is no hook \"\(hook)\"",
                expected: "a hook of the configuration")
        }
        if let files = profile.clientCertificate { try await checkCertificate(files, path: path + "client_cert") }
        try await translatingStoreErrors {
            try await store.write { tx in
                try tx.profiles.requireOwn(profile.name)
                try tx.profiles.set(profile, isConfigured: false)
            }
        }
        context.damagedRows.remove(.profile, profile.name)
        await queue.applyLimits(ofProfile: profile.name)
        return ProfileEntry(profile: profile, isConfigured: false)
    }

    /// Removes a profile and its cookies. Tasks that use its credential fail at their next attempt.
    ///
    /// - Throws: `ManagerError`.
    public func remove(_ name: String) async throws {
        try await translatingStoreErrors {
            try await store.write { tx in
                guard try tx.profiles.requireOwn(name) else { throw ManagerError.profileNotFound(name) }
                try tx.profiles.remove(named: name)
            }
        }
        context.damagedRows.remove(.profile, name)
        await services.cookies.forget(name)
        await queue.applyLimits(ofProfile: name)
    }

    /// Applies the configuration file's profiles.
    func applyConfigured() async {
        let configured = settings.profiles
        do {
            let (removed, damaged) = try await store.write { tx in
                (try ConfiguredProfiles.apply(configured, in: tx), try tx.profiles.damaged())
            }
            context.damagedRows.replace(.profile, by: damaged)
            for name in removed { await services.cookies.forget(name) }
        } catch {
            logger.report("the new profiles were not applied", error, at: .error)
        }
    }

    /// Checks that certificate and key can be read and match each other.
    private func checkCertificate(_ files: ClientCertificateFiles, path: String) async throws {
        do {
            try await context.inspections.run { () throws(PolicyReadingError) in try PolicyReading.check(files) }
        } catch {
            throw ManagerError.invalidField(
                path: path, reason: error.description,
                expected: "a PEM certificate and its private key, which only its owner can read")
        }
    }
}

/// A profile and its origin.
public struct ProfileEntry: Hashable, Sendable {
    public var profile: Profile
    /// True if it is written in the configuration file and can be changed there only.
    public var isConfigured: Bool

    init(profile: Profile, isConfigured: Bool) {
        self.profile = profile
        self.isConfigured = isConfigured
    }

    init(_ stored: StoredProfile) {
        self.init(profile: stored.profile, isConfigured: stored.isConfigured)
    }
}

/// The configuration file's profiles.
enum ConfiguredProfiles {
    /// Writes the profiles of the file, except for those that conflict with one of an operator. Returns the names of
    /// those that are no longer in it.
    @discardableResult
    static func apply(_ configured: [Profile], in tx: StoreTransaction) throws(StoreError) -> [String] {
        let (earlier, damaged) = try tx.profiles.readable()
        let conflicts = ConfigurationConflict.profiles(configured, beside: earlier)
        for profile in configured
        where !earlier.contains(StoredProfile(profile: profile, isConfigured: true))
            && !conflicts.contains(where: { $0.name == profile.name })
        {
            try tx.profiles.set(profile, isConfigured: true)
        }
        // A damaged profile of the file was just written again, or is no longer in it.
        let all = earlier.map { ($0.profile.name, $0.isConfigured) } + damaged.map { ($0.name, $0.isConfigured) }
        let gone = all.filter { name, isConfigured in
            isConfigured && !configured.contains { $0.name == name }
        }.map { $0.0 }
        for name in gone { try tx.profiles.remove(named: name) }
        return gone
    }
}

extension ProfileTable where Store == StoreTransaction {
    /// Returns true if there is such a profile.
    ///
    /// - Throws: `ManagerError.profileIsConfigured` for one of the configuration file.
    @discardableResult
    fileprivate func requireOwn(_ name: String) throws -> Bool {
        guard let isConfigured = try self.isConfigured(name) else { return false }
        if isConfigured { throw ManagerError.profileIsConfigured(name) }
        return true
    }
}

extension ManagerError {
    /// - Parameter path: the prefix of field names.
    init(_ fault: RequestFault, path: String) {
        if let expected = fault.expected {
            self = .invalidField(path: path + fault.field, reason: fault.reason, expected: expected)
        } else {
            self = .permissionDenied(path: path + fault.field, reason: fault.reason)
        }
    }
}
