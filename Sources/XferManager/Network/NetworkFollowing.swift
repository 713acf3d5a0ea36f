import XferCore
import XferNetwork

/// What the manager keeps of the network; nothing of it for each task.
struct NetworkFollowing {
    var reachability = Reachability()
    /// Nil while nobody looks.
    var monitor: NetworkMonitor?
    /// Hears the monitor.
    var listener: Task<Void, Never>?
    /// Until changes have settled.
    var settling: Task<Void, Never>?
    /// Tasks that wait for the network are to go on, and have not all been told yet.
    var isWakeDue = false
    var waking: Task<Void, Never>?
    /// A change could not be recorded.
    var isUntold = false
    /// Looks for connections that have died without a word.
    var stallWatch: Task<Void, Never>?
}
