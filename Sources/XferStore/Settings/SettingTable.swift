/// Short texts by key that survive a restart: settings made over RPC, and the manager's own records.
public struct SettingTable<Store: StoreReader>: StoreTable {
    public let store: Store

    public func find(_ key: String) throws(StoreError) -> String? {
        try connection.first("SELECT value FROM setting WHERE key = ?1", .text(key)) { $0.text(0) }
    }
}

extension SettingTable where Store == StoreTransaction {
    /// Sets the value of a key; nil removes the key.
    public func set(_ key: String, _ value: String?) throws(StoreError) {
        guard let value else { return try connection.run("DELETE FROM setting WHERE key = ?1", .text(key)) }
        try connection.run(
            "INSERT INTO setting (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
            .text(key), .text(value))
    }
}
