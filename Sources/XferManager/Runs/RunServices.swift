import Logging
import NIOConcurrencyHelpers
import XferCurl
import XferFiles
import XferModel
import XferStore

/// What every run shares: where bytes come from, where they go, and where it is written down.
struct RunServices: Sendable {
    let store: TaskStore
    let engine: TransferEngine
    let pool: BlockingPool
    let durability: DurabilityGroup
    let spool: SpoolDirectory
    let reader: ResponseReader
    let space: NIOLockedValueBox<SpaceLedger>
    let policies: NIOLockedValueBox<PolicyBook>
    let clock: WallClock
    let logger: Logger
}
