import NIOConcurrencyHelpers
import XferCurl
import XferModel
import XferStore

/// Cookies that outlive the service: one jar per profile, filled from the store when it is first used. Those that end with
/// the session are never written down, so that a restart forgets them.
final class CookieJars: Sendable {
    private typealias Lines = [CookieChanges.Key: String]

    private let store: TaskStore
    private let engine: TransferEngine
    private let clock: WallClock
    private let ages: RetentionAges
    /// What the store holds of each jar that is open.
    private let saved = NIOLockedValueBox<[String: Lines]>([:])
    /// One opening or saving at a time.
    private let gate = AsyncLock()

    /// A jar never holds more (RFC 6265 §6.1): those that would be gone soonest go first.
    static let maxCookies = 3000

    init(store: TaskStore, engine: TransferEngine, clock: @escaping WallClock, ages: RetentionAges) {
        self.clock = clock
        self.ages = ages
        self.store = store
        self.engine = engine
    }

    /// Fills the profile's jar unless that was done. Before an attempt that uses it.
    func open(_ profile: String) async throws(TransferError) {
        await gate.enter()
        defer { gate.leave() }
        guard saved.withLockedValue({ $0[profile] == nil }) else { return }
        do {
            let cookies = try await store.read { try $0.cookies(ofProfile: profile) }
            await engine.addCookies(cookies.map(\.line), to: profile)
            saved.withLockedValue { $0[profile] = CookieChanges.byKey(cookies.map(\.line), at: 0) }
        } catch {
            throw TransferError(
                .internalError, "the cookies of profile \"\(profile)\" cannot be read: \(error)", isRetriable: true)
        }
    }

    /// Writes down what has changed. After an attempt, before its task's end is recorded.
    func save(_ profile: String?) async throws {
        guard let profile else { return }
        await gate.enter()
        defer { gate.leave() }
        // Forgotten meanwhile: its profile is gone.
        guard let before = saved.withLockedValue({ $0[profile] }) else { return }
        var lines = await engine.cookies(in: profile)
        if lines.count > Self.maxCookies {
            lines = CookieChanges.longestLived(lines, count: Self.maxCookies)
            await engine.replaceCookies(in: profile, by: lines)
        }
        // libcurl forgets what has expired only when the jar is used next.
        let seconds = clock().rawValue / 1_000_000
        var now = CookieChanges.byKey(lines, at: seconds)
        // By a clock that was changed, libcurl has dropped what may not have expired: the rows stay.
        if !ages.isTrusted {
            now.merge(CookieChanges.expired(before, at: seconds)) { present, _ in present }
        }
        let changes = CookieChanges(from: before, to: now)
        guard !changes.isEmpty else { return }
        try await store.write { tx in
            for key in changes.removed {
                try tx.removeCookie(domain: key.domain, path: key.path, name: key.name, ofProfile: profile)
            }
            for (key, line) in changes.written {
                try tx.setCookie(
                    StoredCookie(domain: key.domain, path: key.path, name: key.name, line: line), ofProfile: profile)
            }
        }
        saved.withLockedValue { $0[profile] = now }
    }

    /// The profile is removed, and its rows are: what is under way keeps its cookies to its end, and nothing is written.
    func forget(_ profile: String) async {
        await gate.enter()
        defer { gate.leave() }
        saved.withLockedValue { $0[profile] = nil }
        await engine.forgetCookies(in: profile)
    }
}
