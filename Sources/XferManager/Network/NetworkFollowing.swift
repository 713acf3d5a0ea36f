import XferCore
import XferNetwork

/// What the manager knows of the network. It keeps nothing per task.
struct NetworkFollowing {
    var reachability = Reachability()
    /// Nil while the network is not monitored.
    var monitor: NetworkMonitor?
    /// Receives the monitor's reports.
    var listener: Task<Void, Never>?
    /// Waits until changes have settled.
    var settling: Task<Void, Never>?
    /// Whether tasks that wait for the network have still to be woken.
    var isWakeDue = false
    var waking: Task<Void, Never>?
    /// Whether a change could not be recorded.
    var isUntold = false
    /// Detects connections that are dead without an error.
    var stallWatch: Task<Void, Never>?
}
