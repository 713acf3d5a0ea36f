/// A question that a connection's thread asks again and again: whether there is something to do.
public final class PostgresWatch: Sendable {
    /// What a look has found.
    enum Look {
        /// Something to do, or no answer.
        case found
        /// Nothing; the next look follows after the interval.
        case nothing
        /// Nothing; the next look follows a notification.
        case waiting
    }

    let sql: String
    let parameters: [String?]
    let channel: String
    let interval: Duration
    let ring: @Sendable () -> Void

    /// - Parameters:
    ///   - sql: answers one row: whether there is something to do, and whether to ask again after the interval.
    ///   - channel: on which others notify of changes. A lower-case name, written into SQL as it is.
    ///   - ring: called on the connection's thread; must not block.
    public init(
        _ sql: String, _ parameters: [String?], channel: String, every interval: Duration,
        ring: @escaping @Sendable () -> Void
    ) {
        (self.sql, self.parameters, self.channel, self.interval) = (sql, parameters, channel, interval)
        self.ring = ring
    }
}

extension PostgresSession {
    /// Asks, and listens to the channel before.
    func look(_ watch: PostgresWatch) -> PostgresWatch.Look {
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
