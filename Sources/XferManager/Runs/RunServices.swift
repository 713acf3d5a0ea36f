import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// The services that all runs share.
struct RunServices: Sendable {
    let store: TaskStore
    let engine: TransferEngine
    let pool: BlockingPool
    /// A separate pool for digests, which take minutes for large files, so that checkpoints never wait for them.
    let digests: BlockingPool
    let durability: DurabilityGroup
    let publishing: PublishingStage
    let directories: OpenDirectories
    let rights: OwnerRights
    let spool: SpoolDirectory
    let reader: ResponseReader
    let space: NIOLockedValueBox<SpaceLedger>
    let policies: NIOLockedValueBox<PolicyRegistry>
    /// The rules for which URLs may be loaded.
    let admission: NIOLockedValueBox<AdmissionRules>
    /// Resolves an attempt's credentials and proxy.
    let access: AccessResolver
    let cookies: CookieJars
    let cache: ResponseCache
    let hooks: HookRunner
    let clock: WallClock
    /// Decides whether something is old enough to be deleted.
    let ages: RetentionAges
    let logger: Logger
}
