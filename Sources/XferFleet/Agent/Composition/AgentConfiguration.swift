import Glibc
import XferCore
import XferDaemon
import XferModel

/// The part of the configuration that the agent needs.
struct AgentConfiguration: Sendable {
    let instance: Instance
    let node: String
    let database: PostgresSettings
    let rules: LeaseRules
    /// The interval at which the agent checks for work.
    let interval: Duration

    var settings: Settings { instance.loaded.settings }
    var fleet: Settings.Fleet { settings.fleet }

    /// The factor by which tests divide all times of beats and leases.
    static let scaleVariable = "XFER_FLEET_TIME_SCALE"
    /// The credential that the unit may pass (systemd.exec(5), LoadCredential).
    static let passwordCredential = "fleet-password"

    /// - Throws: `InstancePathsError`, `SettingsRejection`.
    init(_ options: DaemonOptions) throws {
        instance = try Instance(options)
        let fleet = instance.loaded.settings.fleet
        guard !fleet.database.isEmpty else {
            throw Self.rejection("fleet.database", "expected the address of the fleet's database, found nothing")
        }
        node = fleet.node.isEmpty ? Self.hostName : fleet.node
        guard FleetPlace.isName(node) else {
            throw Self.rejection(
                "fleet.node", "the machine's name \"\(node.prefix(80))\" is not \(FleetPlace.expectedName): set it here"
            )
        }
        let scale = instance.environment[Self.scaleVariable].flatMap { Int($0, radix: 10) } ?? 1
        let bounded = min(max(scale, 1), 1000)
        rules = LeaseRules(scale: bounded)
        interval = .seconds(1) / bounded
        database = PostgresSettings(
            connection: fleet.database, passwordFile: Self.passwordFile(fleet, instance.paths.credentialsDirectory),
            connectTimeout: 5, statementTimeout: .seconds(10))
    }

    /// The longest time that the node's daemon may take for an answer.
    static let daemonTimeout = Duration.seconds(5)

    private static func passwordFile(_ fleet: Settings.Fleet, _ credentials: String?) -> String? {
        if !fleet.passwordFile.isEmpty { return fleet.passwordFile }
        guard let file = credentials.map({ $0 + "/" + passwordCredential }), access(file, R_OK) == 0 else { return nil }
        return file
    }

    private static func rejection(_ key: String, _ message: String) -> SettingsRejection {
        SettingsRejection(problems: [SettingsProblem(origin: .default, key: key, message: message)])
    }

    /// The machine's name without its domain: nodes of a fleet are near each other.
    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    }
}
