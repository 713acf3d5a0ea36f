import Logging
import XferStore

extension Logger {
    /// Logs that background work failed.
    ///
    /// Work during the shutdown may find the database closed. The next start repeats it, so that this is not a warning.
    func report(
        _ message: Logger.Message, _ error: any Error, at level: Logger.Level = .warning, _ metadata: Metadata = [:]
    ) {
        let isOrderlyEnd = if case StoreError.closed = error { true } else { false }
        log(level: isOrderlyEnd ? .debug : level, message, metadata: metadata.merging(["error": "\(error)"]) { $1 })
    }
}
