import XferModel

/// A transfer while tasks run on it.
struct LiveTransfer {
    /// Makes the requests; nil if the task makes its own, which is never shared.
    let shared: SharedTransfer?
    let trust: RunTrust
    /// Tasks with this key may join; nil if none may any more.
    var key: [UInt8]?
    let owner: Owner
    var tasks: Set<TaskID> = []
    /// Whether more than one task has ever run on it.
    var wasShared = false
}
