import Logging
import XferStore

extension Logger {
    /// Logs that background work failed.
    ///
    /// Work that goes on beside the end of the service finds the database closed. The next start does it again, so
    /// that is not worth a warning.
    func report(
        _ message: Logger.Message, _ error: any Error, at level: Logger.Level = .warning, _ metadata: Metadata = [:]
    ) {
        let isOrderlyEnd = if case StoreError.closed = error { true } else { false }
        log(level: isOrderlyEnd ? .debug : level, message, metadata: metadata.merging(["error": "\(error)"]) { $1 })
    }
}
