public import XferModel

/// Divides the cache among its owners when it is trimmed, so that no owner displaces what others keep.
///
/// The bytes are shared max-min fairly: owners who have less than an equal share keep all of it, and what they leave is
/// divided equally among the others. An owner alone has the whole cache.
public enum CacheShares {
    /// The bytes that each owner has too much, for the sum of all to be at most `goal`; owners with none are left out.
    public static func excess(of use: [Owner: Int64], within goal: Int64) -> [Owner: Int64] {
        var excess: [Owner: Int64] = [:]
        var (room, owners) = (max(0, goal), Int64(clamping: use.count))
        for (owner, bytes) in use.sorted(by: { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }) {
            let share = room / owners
            if bytes > share { excess[owner] = bytes - share }
            room -= min(max(0, bytes), share)
            owners -= 1
        }
        return excess
    }
}
