/// A query that a connection's thread repeats: whether there is work.
final class PostgresWatch: Sendable {
    /// The result of a check.
    enum Check {
        /// There is work, or the database did not answer.
        case found
        /// No work; the next check follows after the interval.
        case nothing
        /// No work; the next check follows a notification.
        case waiting
    }

    let sql: String
    let parameters: [String?]
    let channel: String
    let interval: Duration
    let ring: @Sendable () -> Void

    /// - Parameters:
    ///   - sql: answers one row: whether there is work, and whether to query again after the interval.
    ///   - channel: the channel on which others notify of changes. A lower-case name, inserted into SQL unchanged.
    ///   - ring: called on the connection's thread; must not block.
    init(
        _ sql: String, _ parameters: [String?], channel: String, every interval: Duration,
        ring: @escaping @Sendable () -> Void
    ) {
        (self.sql, self.parameters, self.channel, self.interval) = (sql, parameters, channel, interval)
        self.ring = ring
    }
}

extension PostgresSession {
    /// Subscribes to the channel, then executes the query.
    func check(_ watch: PostgresWatch) -> PostgresWatch.Check {
        do throws(PostgresError) {
            let isNotified = try listen(watch.channel)
            _ = hasNotification()
            guard let row = try execute(watch.sql, watch.parameters).first else { return .found }
            if try row.bool(0) { return .found }
            let isWaiting = try row.bool(1)
            return isNotified && !isWaiting ? .waiting : .nothing
        } catch {
            return .found
        }
    }
}
