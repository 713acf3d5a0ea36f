import XferModel

/// The deliveries that an event causes. They are recorded in the transaction that appends it.
extension StoreTransaction {
    /// Records the deliveries of an event: to the webhooks that its task specifies for its end, and to those that get
    /// such events anyway. It costs nothing if there are none.
    func recordDeliveries(of event: Event) throws(StoreError) {
        guard webhooks != nil || !endWebhooks.isEmpty else { return }
        var names: [String] = []
        if event.type.isTerminal, let id = event.taskID { names = endWebhooks.removeValue(forKey: id) ?? [] }
        names += try followers(of: event).filter { !names.contains($0) }
        guard !names.isEmpty else { return }
        let (body, store) = (texts.event(event), try storeID())
        for (index, name) in names.enumerated() where !names[..<index].contains(name) {
            try connection.run(
                """
                INSERT INTO webhook_delivery (webhook, key, body, created_at, next_try_at) VALUES (?1, ?2, ?3, ?4, ?4)
                """, .text(name), .text("\(store)-\(event.seq)-\(name)"), .text(body), Value(event.time))
        }
        hasNewDeliveries = true
    }

    /// The names of the webhooks that get such events and whose filters accept this one.
    private func followers(of event: Event) throws(StoreError) -> [String] {
        guard let followers = webhooks?.followers(of: event.type), !followers.isEmpty else { return [] }
        var specification: TaskSpecification?
        if let id = event.taskID, followers.contains(where: \.filter.needsTask) {
            specification = try task(id)?.specification
        }
        return followers.filter { $0.filter.admits(owner: event.owner, task: specification) }.map(\.name)
    }

    private func storeID() throws(StoreError) -> String {
        if let knownStoreID { return knownStoreID }
        let id = try connection.first("SELECT id FROM store") { $0.text(0) } ?? ""
        knownStoreID = id
        return id
    }
}
