public import XferModel

/// The rules for downloads that begin as brief runs: their start is not committed before the first byte.
///
/// A brief run may be lost at any moment: after a crash its task is queued as before, and runs again. So it is for
/// requests that may be repeated, and only for the plainest of them. A run that turns out not to be brief is committed
/// as started, and continues in the ordinary way with the bytes it has.
public enum BriefRules {
    /// The longest body that is kept in memory, in bytes. The start of a download with a longer body, or with one of
    /// unknown length, is committed before its first byte is written.
    public static let largestBody: Int64 = 256 << 10
    /// The time after which the start is committed, so that programs which follow events learn that the task runs.
    public static let longestRun = Duration.seconds(1)
    /// The highest number of brief runs whose attempts are live; further tasks start in the ordinary way.
    public static let mostFetching = 128
    /// The highest number of brief runs of operators whose bodies wait for their publication; beyond it no task starts.
    /// The same number may be of guests, of which `mostOfGuest` may be of one guest: beyond that their tasks start in
    /// the ordinary way, since a guest's path may never answer. So the bodies in memory have at most 96 MiB.
    public static let mostPublishing = 128
    public static let mostOfGuest = 32
    /// The longest time for which a body waits for others, so that one round of publishing takes all of them, and the
    /// number of bodies that wait no longer.
    ///
    /// A round costs two commits, and a task that is to start waits for them. Without a pause the files that arrive
    /// together over a far line would make a round each, between their requests.
    public static let gatheringTime = Duration.milliseconds(10)
    public static let fullRound = 16

    /// The pause before the next round of a directory.
    ///
    /// - Parameters:
    ///   - elapsed: the time since the first of the waiting bodies came; the pause is never longer than
    ///     `gatheringTime`, whatever a clock says.
    ///   - waiting: the number of waiting bodies.
    ///   - fetching: the number of brief runs whose bodies are not complete.
    public static func pauseBeforeRound(after elapsed: Duration, waiting: Int, fetching: Int) -> Duration {
        guard waiting < fullRound, fetching > 0 else { return .zero }
        return max(.zero, gatheringTime - max(.zero, elapsed))
    }

    /// True if the task may begin as a brief run: a first, repeatable request for one file, whose outcome depends only
    /// on the response.
    ///
    /// - Parameter segments: for a task that does not set its own.
    public static func mayBeBrief(_ task: TransferTask, segments: SegmentCount) -> Bool {
        // Read through one reference: a copy would retain forty.
        let asked = task.specification
        guard asked.kind == .download, asked.request.method == .get,
            asked.request.bodySummary == nil, task.transferID == nil, task.attempts == 0,
            task.furthest == 0, task.error == nil, (asked.segments ?? segments) == .one, asked.mirrors.isEmpty
        else { return false }
        // Under `overwrite` only while the name is free: an ordinary run replaces a file.
        let isSimple = [.rename, .overwrite].contains(asked.destination.onConflict)
        return isSimple && asked.completion.finalize == .auto
            && asked.completion.postProcess == nil && isPlain(asked.request)
    }

    /// True if the request needs no secrets, jars or caches, and may be sent over every link.
    private static func isPlain(_ request: TransferRequest) -> Bool {
        request.isPlain && request.cookies.isEmpty && request.allowsMetered && request.range == nil
            && request.maxSize == nil && request.authoritiesFile == nil
            && request.connections.unixSocket == nil
            && !request.caching.policy.usesCache && !request.caching.stores
    }

    /// True if the received body may be published at once: it is the whole, received as the only answer to the request.
    public static func isWhole(_ head: ResponseHead, of length: Int64) -> Bool {
        head.status == 200 && head.contentLength == length
    }
}
