public import XferModel

/// A profile and its author.
public struct StoredProfile: Hashable, Sendable {
    public var profile: Profile
    /// True if the profile is from the configuration file, not from RPC.
    public var isConfigured: Bool

    public init(profile: Profile, isConfigured: Bool) {
        self.profile = profile
        self.isConfigured = isConfigured
    }
}

extension StoredProfile {
    /// Reads a row with name, is_configured, profile.
    init(_ row: ResultRow) throws(StoreError) {
        guard let profile = JSONText.decode(Profile.self, from: row.text(2)), profile.name == row.text(0) else {
            throw .unreadable(table: "profile", id: 0, column: "profile")
        }
        self.init(profile: profile, isConfigured: row.flag(1))
    }
}

/// The profiles: `profile`.
public struct ProfileTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// All profiles that can be read, by name.
    public func all() throws(StoreError) -> [StoredProfile] { try readable().rows }

    /// The profiles that cannot be read, by name.
    public func damaged() throws(StoreError) -> [DamagedRow] { try readable().damaged }

    /// The profiles that can be read, and those that cannot, by name.
    public func readable() throws(StoreError) -> (rows: [StoredProfile], damaged: [DamagedRow]) {
        try connection.readable("SELECT name, is_configured, profile FROM profile ORDER BY name") {
            row throws(StoreError) in
            try StoredProfile(row)
        } orElse: {
            DamagedRow(table: .profile, name: $0.text(0), id: 0, isConfigured: $0.flag(1))
        }
    }

    /// True if the profile is from the configuration file; nil if there is none. The profile need not be readable.
    public func isConfigured(_ name: String) throws(StoreError) -> Bool? {
        try connection.first("SELECT is_configured FROM profile WHERE name = ?1", .text(name)) { $0.flag(0) }
    }

    /// The profile of this name.
    ///
    /// - Throws: `StoreError.unreadable` if its row is damaged.
    public func find(named name: String) throws(StoreError) -> StoredProfile? {
        try connection.first("SELECT name, is_configured, profile FROM profile WHERE name = ?1", .text(name)) {
            row throws(StoreError) in try StoredProfile(row)
        }
    }

    /// Returns unfinished tasks that name this profile, at most `limit` of them.
    public func unfinishedTasks(namingProfile name: String, limit: Int) throws(StoreError) -> [TaskID] {
        try connection.all(
            """
            SELECT id FROM task INDEXED BY task_profile
            WHERE profile = ?1 AND state NOT IN ('completed', 'failed', 'cancelled') LIMIT ?2
            """, .text(name), Value(limit)
        ) { TaskID($0.integer(0)) }
    }
}

extension ProfileTable where Store == StoreTransaction {
    /// Replaces the one of that name.
    public func set(_ profile: Profile, isConfigured: Bool) throws(StoreError) {
        try connection.run(
            "INSERT OR REPLACE INTO profile (name, is_configured, profile) VALUES (?1, ?2, ?3)", .text(profile.name),
            Value(isConfigured), .text(try JSONText.encode(profile)))
    }

    /// Removes the profile and its cookies. Does nothing if there is none with this name.
    public func remove(named name: String) throws(StoreError) {
        try connection.run("DELETE FROM profile WHERE name = ?1", .text(name))
        try connection.run("DELETE FROM cookie WHERE profile = ?1", .text(name))
    }
}

/// A cookie as a line of the Netscape format, and the fields that identify it (RFC 6265 §5.3).
public struct StoredCookie: Hashable, Sendable {
    public var domain: String
    public var path: String
    public var name: String
    /// The whole cookie in the Netscape format.
    public var line: String

    public init(domain: String, path: String, name: String, line: String) {
        self.domain = domain
        self.path = path
        self.name = name
        self.line = line
    }
}

/// The cookies of profiles: `cookie`.
public struct CookieTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The profile's jar.
    public func list(ofProfile name: String) throws(StoreError) -> [StoredCookie] {
        try connection.all(
            "SELECT domain, path, name, line FROM cookie WHERE profile = ?1 ORDER BY domain, path, name", .text(name)
        ) { StoredCookie(domain: $0.text(0), path: $0.text(1), name: $0.text(2), line: $0.text(3)) }
    }
}

extension CookieTable where Store == StoreTransaction {
    public func set(_ cookie: StoredCookie, ofProfile profile: String) throws(StoreError) {
        try connection.run(
            "INSERT OR REPLACE INTO cookie (profile, domain, path, name, line) VALUES (?1, ?2, ?3, ?4, ?5)",
            .text(profile), .text(cookie.domain), .text(cookie.path), .text(cookie.name), .text(cookie.line))
    }

    public func remove(domain: String, path: String, name: String, ofProfile profile: String) throws(StoreError) {
        try connection.run(
            "DELETE FROM cookie WHERE profile = ?1 AND domain = ?2 AND path = ?3 AND name = ?4", .text(profile),
            .text(domain), .text(path), .text(name))
    }
}
