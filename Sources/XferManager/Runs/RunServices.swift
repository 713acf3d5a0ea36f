import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
public import XferModel
import XferStore

/// Makes a text of a task for those outside. Given to the manager by whoever owns the wire's forms; without secrets.
public typealias TaskDescriber = @Sendable (TransferTask) -> String

/// What every run shares: where bytes come from, where they go, and where it is written down.
struct RunServices: Sendable {
    let store: TaskStore
    let engine: TransferEngine
    let pool: BlockingPool
    /// Threads of their own for digests, which take minutes where files are large: checkpoints never wait for them.
    let digests: BlockingPool
    let durability: DurabilityGroup
    let publishing: PublishingStage
    let directories: OpenDirectories
    let rights: OwnerRights
    let spool: SpoolDirectory
    let reader: ResponseReader
    let space: NIOLockedValueBox<SpaceLedger>
    let policies: NIOLockedValueBox<PolicyRegistry>
    /// Which URLs may be loaded at all.
    let admission: NIOLockedValueBox<AdmissionRules>
    /// What an attempt shows and which way it takes.
    let access: AccessResolver
    let cookies: CookieJars
    let cache: ResponseCache
    let hooks: HookRunner
    /// A task as its hooks are told of it.
    let describe: TaskDescriber
    let clock: WallClock
    /// What tells whether something is old enough to be deleted.
    let ages: RetentionAges
    let logger: Logger
}
