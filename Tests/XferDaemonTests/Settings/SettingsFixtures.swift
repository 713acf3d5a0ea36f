import Testing

@testable import XferDaemon

/// A user's instance without anything special.
func userInstance(home: String = "/home/ann") throws -> InstancePaths {
    try InstancePaths(environment: ["HOME": home], uid: 1000)
}

/// Loads settings from a file's text.
func load(
    _ yaml: String, environment: [String: String] = [:], flags: [String: String] = [:]
) throws -> LoadedSettings {
    try LoadedSettings(
        flags: flags, environment: environment, file: ConfigurationText(path: "/c.yaml", text: yaml),
        instance: userInstance())
}

/// Everything that is wrong with a file's text, a line each.
func problems(of yaml: String, environment: [String: String] = [:], flags: [String: String] = [:]) throws -> [String] {
    let rejection = #expect(throws: SettingsRejection.self) {
        try load(yaml, environment: environment, flags: flags)
    }
    return try #require(rejection).problems.map(\.description)
}

/// A file in which every key differs from its default.
let everyKeyChanged = """
    queue:
      max_active: 12
      max_active_per_host: 3
      polite: false
      order: lifo
      retry_for: 2h
    bandwidth: { recv: 2M, send: 512K, timetable: ["08:00 512K", "19:00 off"] }
    download:
      dir: ~/in
      incomplete_dir: ~/parts
      roots: ["~", "/srv/data"]
      allow_hidden: true
      reserve: 1G
      checkpoint_bytes: 8Mi
      checkpoint_interval: 500ms
      segments: auto
      min_recv_rate: 10Ki
      min_recv_time: 45s
    sharing: { negative_ttl: 90, between_owners: true }
    cache: { max_bytes: 2Mi, max_age: 60 }
    trust: { ca_file: /etc/my-ca.pem, hsts: deny, policies: [{ name: lab, hosts: [lab.test], report_only: true }] }
    profiles: { api: { base_url: "https://api.test/", cookies: jar } }
    hooks: { tell: { argv: [~/bin/tell, --now], timeout: 2m, guests: true } }
    webhooks: { deploy: { url: "https://ci.test/hook", events: [task.failed], secret: { file: ~/key }, guests: true } }
    network:
      monitor: false
      metered_interfaces: [wwan0, "usb*"]
      deny_hosts: [bad.test, .evil.test]
      deny_addresses: [10.0.0.0/8, "fe80::/10"]
      nat64_prefixes: "2001:db8:64::/96"
      allow_hosts: [.test]
      proxy_from_environment: true
    engine: { loops: 3 }
    upload: { chunk_size: 8Mi }
    results: { max_bytes: 64Mi, max_ratio: 50 }
    events: { max_count: 5000, max_age: 7d }
    history: { max_count: 10, max_age: 0 }
    rpc:
      { max_line: 64Ki, max_clients: 3, max_clients_per_user: 2, reserved_clients: 1, max_in_flight: 2, request_timeout: 5,
        max_waiting: 1Mi, max_waiting_per_user: 2Mi }
    access:
      users:
        bob: { roots: [/srv/bob], max_tasks: 5, max_priority: high }
      groups: { "100": { roots: /srv/all } }
      max_stored: 3Mi
      max_undelivered: 2Mi
    listen: [{ address: "127.0.0.1:6800" }]
    gateway: { max_clients: 7, aria2: all }
    redaction: { names: [x-acme-*, pin] }
    log: { level: debug, format: json }
    client: { start: never }
    fleet:
      { database: "postgresql://xfer@db.test/xfer", password_file: ~/pw, node: n1, labels: [ssd, eu], slots: 3,
        socket: /run/f.sock, daemon: /run/x.sock, listen: [{ address: "127.0.0.1:6803" }],
        storages: { nas: /mnt/nas } }
    """
