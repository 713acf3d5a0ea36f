import NIOConcurrencyHelpers
import XferModel
import XferStore

/// The room of one add for copies of files in the spool directory: what its user may store less what is stored.
///
/// Copies are made before the transaction that counts them, so they are claimed first: adds at the same time do not
/// together fill the disk. The object's end releases its claims; keep it until the add is committed. For that moment a
/// copy counts twice, so that adds at the limit may be refused too early, never too late.
final class SpoolRoom: Sendable {
    private let owner: Owner
    /// The limit of the user's bytes; nil for operators.
    private let limit: Int64?
    private let store: TaskStore
    private let claims: SpoolClaims
    private let claimed = NIOLockedValueBox<Int64>(0)

    init(of principal: Principal, maxStored: Int64, _ services: RunServices) {
        owner = principal.owner
        limit = principal.isOperator ? nil : maxStored
        store = services.store
        claims = services.spoolClaims
    }

    deinit { claims.release(claimed.withLockedValue(\.self), of: owner) }

    /// Claims the bytes of copies that are about to be made.
    ///
    /// - Throws: `ManagerError.limitExceeded`, `StoreError`; then nothing is claimed.
    func claim(_ bytes: Int64) async throws {
        guard let limit else { return }
        guard let sum = claims.add(bytes, of: owner, upTo: limit) else {
            throw ManagerError.storedTooMuch(bytes, limit: limit)
        }
        do {
            let stored = try await store.read { [owner] in try $0.storedBytes.total(of: owner) }.addingSaturated(sum)
            guard stored <= limit else { throw ManagerError.storedTooMuch(stored, limit: limit) }
            claimed.withLockedValue { $0 = $0.addingSaturated(bytes) }
        } catch {
            claims.release(bytes, of: owner)
            throw error
        }
    }
}

/// The bytes of copies whose adds are not committed, by user.
final class SpoolClaims: Sendable {
    private let bytes = NIOLockedValueBox<[Owner: Int64]>([:])

    /// Returns the sum of the user's claims, this one included; nil if it would be beyond `limit`, and nothing is added.
    func add(_ count: Int64, of owner: Owner, upTo limit: Int64) -> Int64? {
        bytes.withLockedValue { bytes in
            let sum = bytes[owner, default: 0].addingSaturated(count)
            guard sum <= limit else { return nil }
            bytes[owner] = sum
            return sum
        }
    }

    func release(_ count: Int64, of owner: Owner) {
        bytes.withLockedValue { bytes in
            let rest = bytes[owner, default: 0].subtractingSaturated(count)
            bytes[owner] = rest > 0 ? rest : nil
        }
    }
}

extension ManagerError {
    /// The refusal of what would bring the bytes stored for a user to `stored`.
    static func storedTooMuch(_ stored: Int64, limit: Int64) -> Self {
        .limitExceeded(
            reason:
                "bytes stored for this user's tasks (access.max_stored); it would be \(stored): remove ended tasks, or send contents from files without spool",
            limit: Int(clamping: limit))
    }
}
