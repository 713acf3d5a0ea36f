/// The connections of a client. A new one is opened when the existing ones are full of calls; `CallPermits` admits no
/// more calls than `most` connections carry.
actor ConnectionPool {
    /// The highest number of connections for calls; each stream of events has a connection of its own.
    static let most = 4

    private let connector: Connector
    private var connections: [DaemonConnection] = []
    private var opening: Arrival<Void>?
    private var isClosed = false

    init(_ connector: Connector) { self.connector = connector }

    /// A connection, and a place on it for one call.
    ///
    /// - Throws: `ClientClosedError`, `NoDaemonError`, `CallError`, `CancellationError`.
    func reserve() async throws -> (connection: DaemonConnection, entry: CallTable.Entry) {
        while true {
            guard !isClosed else { throw ClientClosedError() }
            try Task.checkCancellation()
            removeSuperfluous()
            for connection in connections {
                if let entry = connection.channel.reserve() { return (connection, entry) }
            }
            try await (opening ?? open()).value
        }
    }

    func close() {
        isClosed = true
        for connection in connections { connection.channel.close() }
        connections = []
    }

    /// Keeps one idle connection. Calls that are under way on a retired one keep it open until their answers.
    ///
    /// A connection that is full of cancelled waits is closed, since the daemon would continue these calls for up to a
    /// minute.
    private func removeSuperfluous() {
        var hasIdle = false
        connections.removeAll { connection in
            if connection.channel.isRetired { return true }
            guard connection.channel.isIdle else { return false }
            if connection.channel.isFull { return true }
            defer { hasIdle = true }
            return hasIdle
        }
    }

    /// Opens a connection in a Swift task of its own: cancelling one caller does not take it from the others.
    private func open() -> Arrival<Void> {
        let opened = Arrival<Void>()
        opening = opened
        Task {
            do {
                let connection = try await connector.open()
                if !isClosed { connections.append(connection) }
                opened.complete(.success(()))
            } catch {
                opened.complete(.failure(error))
            }
            opening = nil
        }
        return opened
    }
}
