/// The connections that a listener has room for. A pure decision.
///
/// A connection is a stranger's until a request on it was recognised by a token. Strangers have a share of the places,
/// and every network address a share of theirs: one more ends the oldest of the address, or of the address that has the
/// most. So no number of strangers keeps a client with a token from connecting.
struct ClientSeats<Key: Hashable, Address: Hashable> {
    /// The highest number of connections.
    let capacity: Int
    /// The highest number of strangers.
    let share: Int
    /// The highest number of strangers of one address.
    let sharePerAddress: Int

    private var members: Set<Key> = []
    /// The strangers of each address, the oldest first.
    private var anonymous: [Address: [Key]] = [:]
    private var addresses: [Key: Address] = [:]

    init(capacity: Int) {
        self.capacity = capacity
        share = max(1, capacity / 4)
        sharePerAddress = max(1, share / 4)
    }

    enum Admission: Equatable {
        /// The connection has a place. The stranger to close, if it replaces one.
        case admitted(replacing: Key?)
        /// All places are taken by clients with tokens.
        case refused
    }

    var count: Int { members.count + addresses.count }

    func isAnonymous(_ key: Key) -> Bool { addresses[key] != nil }

    /// Adds a new connection.
    mutating func admit(_ key: Key, from address: Address) -> Admission {
        var victim: Key?
        if let own = anonymous[address], own.count >= sharePerAddress {
            victim = own.first
        } else if addresses.count >= share || count >= capacity {
            guard let largest = anonymous.values.max(by: { $0.count < $1.count }) else { return .refused }
            victim = largest.first
        }
        if let victim { remove(victim) }
        anonymous[address, default: []].append(key)
        addresses[key] = address
        return .admitted(replacing: victim)
    }

    /// Records that a request of the connection was recognised by a token.
    mutating func recognise(_ key: Key) {
        guard isAnonymous(key) else { return }
        remove(key)
        members.insert(key)
    }

    mutating func remove(_ key: Key) {
        members.remove(key)
        guard let address = addresses.removeValue(forKey: key) else { return }
        anonymous[address]?.removeAll { $0 == key }
        if anonymous[address]?.isEmpty == true { anonymous[address] = nil }
    }
}

extension ClientSeats: Sendable where Key: Sendable, Address: Sendable {}
