import Logging
import NIOConcurrencyHelpers
import XferCurl
import XferModel
import XferStore

/// Persistent cookies: one jar per profile, filled from the store when it is first used. Session cookies are never
/// stored, so that a restart drops them.
final class CookieJars: Sendable {
    private typealias Lines = [CookieChanges.Key: String]

    private let store: TaskStore
    private let engine: TransferEngine
    private let clock: WallClock
    private let ages: RetentionAges
    private let logger: Logger
    /// The stored cookies of each open jar.
    private let saved = NIOLockedValueBox<[String: Lines]>([:])
    /// Allows one opening or saving at a time.
    private let gate = AsyncLock()

    /// The highest number of cookies in a jar (RFC 6265 §6.1). If there are more, `CookieChanges.kept` chooses.
    static let maxCookies = 3000

    init(store: TaskStore, engine: TransferEngine, clock: @escaping WallClock, ages: RetentionAges, logger: Logger) {
        self.logger = logger
        self.clock = clock
        self.ages = ages
        self.store = store
        self.engine = engine
    }

    /// Fills the profile's jar if it is not open yet. Call it before an attempt that uses the jar.
    func open(_ profile: String) async throws(TransferError) {
        await gate.enter()
        defer { gate.leave() }
        guard saved.withLockedValue({ $0[profile] == nil }) else { return }
        do {
            let cookies = try await store.read { try $0.cookies.list(ofProfile: profile) }
            engine.addCookies(cookies.map(\.line), to: profile)
            saved.withLockedValue { $0[profile] = CookieChanges.byKey(cookies.map(\.line), at: 0) }
        } catch {
            throw TransferError(
                .internalError, "the cookies of profile \"\(profile)\" cannot be read: \(error)", isRetriable: true)
        }
    }

    /// Commits the changes. Call it after an attempt, before its task's end is committed.
    func save(_ profile: String?) async throws {
        guard let profile else { return }
        await gate.enter()
        defer { gate.leave() }
        // The profile and its cookies were removed meanwhile.
        guard let before = saved.withLockedValue({ $0[profile] }) else { return }
        var lines = engine.cookies(in: profile)
        if lines.count > Self.maxCookies {
            logger.warning(
                "a profile's cookie jar is full: cookies were deleted, first those of domains with many",
                metadata: ["profile": "\(profile)", "dropped": "\(lines.count - Self.maxCookies)"])
            lines = CookieChanges.kept(lines, count: Self.maxCookies)
            engine.replaceCookies(in: profile, by: lines)
        }
        // The jar drops expired cookies only when it is used next.
        let seconds = clock().rawValue / 1_000_000
        var now = CookieChanges.byKey(lines, at: seconds)
        // While the clock is not trusted, the jar may have dropped cookies that have not expired, so their rows stay.
        if !ages.isTrusted {
            now.merge(CookieChanges.expired(before, at: seconds)) { present, _ in present }
        }
        let changes = CookieChanges(from: before, to: now)
        guard !changes.isEmpty else { return }
        try await store.write { tx in
            for key in changes.removed {
                try tx.cookies.remove(domain: key.domain, path: key.path, name: key.name, ofProfile: profile)
            }
            for (key, line) in changes.written {
                try tx.cookies.set(
                    StoredCookie(domain: key.domain, path: key.path, name: key.name, line: line), ofProfile: profile)
            }
        }
        saved.withLockedValue { $0[profile] = now }
    }

    /// Closes the jar of a removed profile. Live attempts keep their cookies to their end, and nothing is stored.
    func forget(_ profile: String) async {
        await gate.enter()
        defer { gate.leave() }
        saved.withLockedValue { $0[profile] = nil }
        engine.forgetCookies(in: profile)
    }
}
