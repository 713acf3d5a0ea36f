public import XferModel

/// The number of file descriptors that the service, a transfer and a task may need at once. Starts stop before none is
/// left.
public enum DescriptorRules {
    /// The database, its readers and its log, locks, timers and the event loops.
    static let ofService = 48
    /// A task's directory, its own copy of the bytes, and the files that publishing or a hook opens.
    static let ofTask = 3
    /// The number of descriptors for a request: a connection, and a second one while both address families are tried.
    static let ofRequest = 2
    /// The highest number of connections that `auto` may choose.
    static let maxAutomaticSegments = 8
    /// The highest number of files of a form that are counted; a form with more files waits if it meets the limit.
    static let filesOfForm = 8

    /// The number of idle connections that may be kept for the next requests: as many as there are hosts that get
    /// turns, or each file of a list over many hosts would need a connection of its own.
    ///
    /// - Parameter limit: the highest number of descriptors of the process.
    public static func keptConnections(limit: Int) -> Int { min(max(limit / 16, 32), 1024) }

    /// The number of descriptors that all tasks together may have. If the limit is too low for the service and its
    /// clients, it is a quarter of the limit, since the number of clients varies.
    ///
    /// - Parameters:
    ///   - limit: the highest number of descriptors of the process (RLIMIT_NOFILE).
    ///   - clients: the highest number of connections of clients.
    public static func budget(limit: Int, clients: Int) -> Int {
        let (left, overflow) = limit.subtractingReportingOverflow(
            ofService + keptConnections(limit: limit) + min(max(clients, 0), 1 << 20))
        return max(overflow ? 0 : left, limit / 4)
    }

    /// Descriptors that a task with a transfer of its own needs.
    public static func need(of specification: TaskSpecification, segments: SegmentCount) -> Int {
        let files =
            switch specification.request.bodySummary?.form {
            case nil, .inline: 0
            case .file: 1
            case .parts: filesOfForm
            }
        guard specification.kind == .download else { return ofTask + ofRequest + files }
        let connections =
            switch specification.segments ?? segments {
            case .exactly(let count): count
            case .automatic: maxAutomaticSegments
            }
        return ofTask + connections * ofRequest + files
    }

    /// The number of descriptors that a task needs which joins a transfer.
    public static var needOfJoining: Int { ofTask }
}
