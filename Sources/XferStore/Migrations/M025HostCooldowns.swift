extension Migration {
    /// Names the answer that set a host's cooldown, and finds the tasks of a host that an answer makes wait.
    static let hostCooldowns = Migration(
        name: "causes of cooldowns",
        sql: """
            ALTER TABLE host_cooldown ADD COLUMN task_id INTEGER;
            ALTER TABLE host_cooldown ADD COLUMN owner INTEGER;
            -- Redacted.
            ALTER TABLE host_cooldown ADD COLUMN url TEXT;
            CREATE INDEX task_refused ON task (host, wait_until)
                WHERE wait_reason = 'retry' AND error_reason = 'http_status';
            """)
}
