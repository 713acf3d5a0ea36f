import XferCore
import XferModel

/// A node's description of itself in its registration.
public struct FleetNodeDescription: Hashable, Sendable {
    /// The name; see `FleetPlace.isName`.
    var name: String
    var labels: Set<String>
    /// Shared storages that it has mounted.
    var storages: Set<String>
    /// The number of tasks that it runs at once.
    var slots: Int
    /// Identifies the store of its xferd: another store under the same name is another machine.
    var storeID: String
    /// Digests of policies and profiles by their names.
    var digests: [String: String]
    /// The version of its programs, for people.
    var version: String

    public init(
        name: String, labels: Set<String> = [], storages: Set<String> = [], slots: Int, storeID: String,
        digests: [String: String] = [:],
        version: String
    ) {
        self.name = name
        self.labels = labels
        self.storages = storages
        self.slots = slots
        self.storeID = storeID
        self.digests = digests
        self.version = version
    }

    /// The places from which its tasks come.
    var places: [FleetPlace] { FleetPlace.served(byNode: name, labels: labels, storages: storages) }
}

/// A node's membership in the fleet from one registration to the next.
public struct FleetRegistration: Hashable, Sendable {
    let node: FleetNodeID
    let name: String
    /// The number of the registration. Each registration increases it, so that writes of an older one have no effect.
    let incarnation: Int64
    /// The last local event whose effects are in the fleet's database; 0 for a new store.
    let applied: Int64
    /// Identifies the fleet: 32 hexadecimal digits, random.
    let fleet: String
}

/// A node as the list shows it, and as observers judge it.
struct FleetNodeRow: Hashable, Sendable {
    let id: FleetNodeID
    let description: FleetNodeDescription
    let incarnation: Int64
    /// A counter of beats. Observers compare it with their last reading, by their own clocks.
    let beat: Int64
    let isDraining: Bool
    /// True if its leases were taken over, and it has not registered since.
    let isDown: Bool
    /// True if it is down, but the observer's takeover of its leases is not finished: call `takeOver` again.
    let needsTakeover: Bool
    /// The number of its leases; 0 if not counted.
    let leases: Int
    /// The number of queued tasks that only this node can take; 0 if not counted.
    let pinned: Int
    /// The figures of the last beat: JSON text from the agent.
    let figures: String?
}

/// A pinned task, and the effect of `forget` on it.
struct FleetForgetEffect: Hashable, Sendable {
    let task: FleetTaskID
    let state: FleetTaskState
    let verdict: TakeoverRules.Verdict
}

/// The answer to a node's beat.
struct FleetBeat: Hashable, Sendable {
    /// All nodes, by name, without counts.
    let nodes: [FleetNodeRow]
    let rates: FleetRates
    /// True if the time of a delayed task has passed.
    let hasDue: Bool
    /// True if there is a wish for the node, or a task that it could claim.
    let hasWork: Bool
}
