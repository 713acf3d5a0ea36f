/// The limits on an attempt's receive rate, in bytes per second; 0 is unlimited.
struct ReceiveLimit {
    /// The attempt's own limit.
    var own: Int64
    /// The limit for which the present connection's window was made.
    var window: Int64 = 0

    /// The lower one of its own limit and a share of the limits it has in common with others.
    func rate(sharing share: Int64?) -> Int64 {
        guard let share else { return own }
        return own > 0 ? min(own, share) : share
    }
}
