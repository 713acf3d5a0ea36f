public import XferModel

/// The deliveries that an event causes. They are recorded in the transaction that appends it.
extension DeliveryTable where Store == StoreTransaction {
    /// Records the deliveries of an event: to the webhooks that its task specifies for its end, and to those that get
    /// such events anyway. It costs nothing if there are none.
    ///
    /// A delivery for which its user has no room is discarded: it is recorded as given up, without its text.
    func record(of event: Event) throws(StoreError) {
        guard store.webhooks != nil || !store.endWebhooks.isEmpty else { return }
        // The receiver knows it already.
        if case .taskWaiting(let wait, _) = event.payload, wait.isRepeated == true { return }
        var names: [String] = []
        if event.type.isTerminal, let id = event.taskID { names = store.endWebhooks.removeValue(forKey: id) ?? [] }
        names += try followers(of: event).filter { !names.contains($0) }
        guard !names.isEmpty else { return }
        let (body, id) = (store.texts.event(event), try storeID())
        for (index, name) in names.enumerated() where !names[..<index].contains(name) {
            let mayWait = try mayWait(body, of: event.owner, at: event.time)
            try connection.run(
                """
                INSERT INTO webhook_delivery (webhook, key, body, created_at, next_try_at, failed_at, owner)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                """, .text(name), .text("\(id)-\(event.seq)-\(name)"), .text(mayWait ? body : ""),
                Value(event.time), Value(mayWait ? event.time : nil), Value(mayWait ? nil : event.time),
                Value(event.owner))
        }
        store.hasNewDeliveries = true
    }

    /// The names of the webhooks that get such events and whose filters accept this one.
    private func followers(of event: Event) throws(StoreError) -> [String] {
        guard let followers = store.webhooks?.followers(of: event.type), !followers.isEmpty else { return [] }
        var specification: TaskSpecification?
        if let id = event.taskID, followers.contains(where: \.filter.needsTask) {
            do throws(StoreError) {
                specification = try store.tasks.find(id)?.specification
            } catch .unreadable {
                // A damaged task can be cancelled and removed. It fulfils no filter.
            }
        }
        return followers.filter { $0.filter.admits(owner: event.owner, task: specification) }.map(\.name)
    }

    private func storeID() throws(StoreError) -> String {
        if let id = store.knownStoreID { return id }
        let id = try connection.first("SELECT id FROM store") { $0.text(0) } ?? ""
        store.knownStoreID = id
        return id
    }

    // MARK: Room

    /// True if a delivery of this text may wait; counts it as discarded if not.
    private func mayWait(_ body: String, of owner: Owner?, at time: Timestamp) throws(StoreError) -> Bool {
        guard let owner, let limit = store.deliveryLimits.limit(of: owner) else { return true }
        let waiting = try waiting(of: owner)
        let bytes = waiting.bytes.addingSaturated(Int64(clamping: body.utf8.count))
            .addingSaturated(DeliveryLimits.overhead)
        guard bytes > limit else {
            if waiting.isDiscarding, bytes <= limit / 2 {
                try connection.run(
                    "UPDATE owner_deliveries SET discarding_at = NULL, reported = 0 WHERE owner = ?1", Value(owner))
            }
            return true
        }
        try connection.run(
            """
            INSERT INTO owner_deliveries (owner, discarded, discarding_at) VALUES (?1, 1, ?2)
            ON CONFLICT (owner) DO UPDATE SET
                discarded = discarded + 1, discarding_at = ifnull(discarding_at, excluded.discarding_at)
            """, Value(owner), Value(time))
        if !waiting.isDiscarding { store.hasNewDiscards = true }
        return false
    }

    /// Appends the events of users whose deliveries are discarded since this transaction. It is done at the end of the
    /// transaction: an event appended while others are would come to subscribers before them.
    func reportDiscards() throws(StoreError) {
        guard store.hasNewDiscards else { return }
        store.hasNewDiscards = false
        let users = try connection.all(
            "SELECT owner, discarding_at FROM owner_deliveries WHERE discarding_at IS NOT NULL AND reported = 0"
        ) { (owner: Owner(uid: UInt32(truncatingIfNeeded: $0.integer(0))), time: $0.time(1)) }
        for user in users {
            try connection.run("UPDATE owner_deliveries SET reported = 1 WHERE owner = ?1", Value(user.owner))
            try store.events.append(
                .webhookDiscarded(limit: store.deliveryLimits.bytesPerUser), owner: user.owner, at: user.time)
        }
    }
}

extension DeliveryTable {
    /// The bytes of a user's deliveries that wait, and whether further ones are being discarded.
    public func waiting(of owner: Owner) throws(StoreError) -> (bytes: Int64, isDiscarding: Bool) {
        try connection.first(
            "SELECT bytes, discarding_at IS NOT NULL FROM owner_deliveries WHERE owner = ?1", Value(owner)
        ) { (bytes: $0.amount(0), isDiscarding: $0.flag(1)) } ?? (0, false)
    }

    /// The number of deliveries that were discarded because too many bytes of their users waited.
    func discarded() throws(StoreError) -> Int64 {
        try connection.first("SELECT coalesce(sum(discarded), 0) FROM owner_deliveries") { $0.amount(0) } ?? 0
    }
}
