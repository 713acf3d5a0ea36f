import XferManager
import XferProtocol

/// Settings in force with the origin of each value.
///
/// A value comes from the command line, else from the environment (`XFERD_…`), else from the file, else it is the
/// default. No faulty value is ignored: it makes the whole configuration invalid.
public struct LoadedSettings: Hashable, Sendable {
    public internal(set) var settings: Settings
    /// The origins by `SettingKey.path`; a key that is not in it has its default.
    public internal(set) var origins: [String: SettingOrigin]
    /// Warnings for the log, such as an environment variable that no setting uses.
    public let warnings: [String]
    private let isUserInstance: Bool
    /// The path of the file that was read, or a text that there is none.
    let fileDescription: String

    /// - Parameters:
    ///   - flags: texts by key path, from `--set queue.max_active=3`.
    ///   - environment: the whole environment; variables that do not begin with `XFERD_` are ignored.
    ///   - file: the configuration's text, nil when there is no file.
    /// - Throws: all faults of all sources.
    public init(
        flags: [String: String] = [:], environment: [String: String] = [:], file: ConfigurationText? = nil,
        instance: InstancePaths
    ) throws(SettingsRejection) {
        let (loaded, problems) = Self.read(flags: flags, environment: environment, file: file, instance: instance)
        guard problems.isEmpty else { throw SettingsRejection(problems: problems) }
        self = loaded
    }

    /// The settings without the faulty values, and the faults. With faults, the settings are only good for finding
    /// further ones.
    static func read(
        flags: [String: String], environment: [String: String], file: ConfigurationText?, instance: InstancePaths
    ) -> (loaded: LoadedSettings, problems: [SettingsProblem]) {
        var reader = SettingsReader(instance: instance)
        if let file { reader.read(file) }
        reader.read(environment: environment)
        reader.read(flags: flags)
        reader.checkTogether()
        return (LoadedSettings(reader, file: file, instance: instance), reader.problems)
    }

    private init(_ reader: SettingsReader, file: ConfigurationText?, instance: InstancePaths) {
        settings = reader.settings
        origins = reader.origins
        warnings = reader.warnings
        isUserInstance = instance.kind == .user
        fileDescription = file?.path ?? "none"
    }

    /// The directories for tasks that the daemon's own user adds locally: `download.roots` where that is configured,
    /// and in the system's instance. A user's own daemon otherwise writes wherever the user may.
    public var ownRoots: [String] {
        isUserInstance && origins["download.roots"] == nil ? ["/"] : settings.service.roots
    }

    /// The origin of a key's value.
    public func origin(of key: SettingKey) -> SettingOrigin { origins[key.path] ?? .default }
}

/// The text of a configuration file and its name.
public struct ConfigurationText: Hashable, Sendable {
    public let path: String
    public let text: String

    public init(path: String, text: String) {
        self.path = path
        self.text = text
    }
}

/// Reads the sources, weakest first, and collects their faults.
private struct SettingsReader {
    var settings: Settings
    var origins: [String: SettingOrigin] = [:]
    var problems: [SettingsProblem] = []
    var warnings: [String] = []
    private let context: SettingContext

    init(instance: InstancePaths) {
        settings = Settings(defaultsFor: instance)
        context = SettingContext(home: instance.home)
    }

    mutating func read(_ file: ConfigurationText) {
        func origin(_ node: ConfigurationNode) -> SettingOrigin { .file(path: file.path, position: node.position) }
        do throws(ConfigurationSyntaxError) {
            guard let root = try ConfigurationNode.parse(yaml: file.text) else { return }
            guard let sections = root.members else {
                let message = "expected a mapping with \(sectionNames.joined(separator: ", ")), found \(root.summary)"
                problems.append(SettingsProblem(origin: origin(root), message: message))
                return
            }
            for section in sections { read(section, origin) }
        } catch {
            let place = SettingOrigin.file(path: file.path, position: error.position)
            problems.append(SettingsProblem(origin: place, message: error.message))
        }
    }

    private mutating func read(
        _ section: ConfigurationNode.Member, _ origin: (ConfigurationNode) -> SettingOrigin
    ) {
        let name = section.key.text ?? section.key.summary
        guard sectionNames.contains(name) else {
            problems.append(SettingsProblem(origin: origin(section.key), key: name, message: unknown(name)))
            return
        }
        if let key = SettingKey.named(name) {
            assign(key, section.value, origin(section.value), origin)
            return
        }
        guard let members = section.value.members else {
            let keys = SettingKey.all.filter { $0.section == name }.map(\.name).joined(separator: ", ")
            let message = "expected a mapping with \(keys), found \(section.value.summary)"
            problems.append(SettingsProblem(origin: origin(section.value), key: name, message: message))
            return
        }
        for member in members {
            let path = name + "." + (member.key.text ?? member.key.summary)
            if let key = SettingKey.named(path) {
                assign(key, member.value, origin(member.value), origin)
            } else {
                problems.append(SettingsProblem(origin: origin(member.key), key: path, message: unknown(path)))
            }
        }
    }

    mutating func read(environment: [String: String]) {
        let byVariable = Dictionary(uniqueKeysWithValues: SettingKey.all.map { ($0.environmentName, $0) })
        for (variable, text) in environment.sorted(by: { $0.key < $1.key }) where variable.hasPrefix("XFERD_") {
            if let key = byVariable[variable] {
                // Scripts clear a variable by setting it to nothing.
                if !text.isEmpty { read(key, text, .environment(variable: variable)) }
            } else if !InstancePaths.environmentNames.contains(variable) {
                let near = Suggestion.nearest(to: variable.lowercased(), among: byVariable.keys.map { $0.lowercased() })
                let hint = near.map { ", did you mean \($0.uppercased())?" } ?? ""
                warnings.append("the environment variable \(variable) is unknown\(hint)")
            }
        }
    }

    mutating func read(flags: [String: String]) {
        for (path, text) in flags.sorted(by: { $0.key < $1.key }) {
            if let key = SettingKey.named(path) {
                read(key, text, .flag)
            } else {
                problems.append(SettingsProblem(origin: .flag, key: path, message: unknown(path)))
            }
        }
    }

    /// Reads text from outside a file: plain values unchanged, lists and mappings in YAML's flow style.
    private mutating func read(_ key: SettingKey, _ text: String, _ origin: SettingOrigin) {
        var node = ConfigurationNode(text: text)
        if !key.isScalar, text.hasPrefix("[") || text.hasPrefix("{") {
            do throws(ConfigurationSyntaxError) {
                node = try ConfigurationNode.parse(yaml: text) ?? node
            } catch {
                problems.append(SettingsProblem(origin: origin, key: key.path, message: error.message))
                return
            }
        }
        assign(key, node, origin) { _ in origin }
    }

    private mutating func assign(
        _ key: SettingKey, _ node: ConfigurationNode, _ origin: SettingOrigin,
        _ place: (ConfigurationNode) -> SettingOrigin
    ) {
        do throws(SettingMismatch) {
            try key.assign(node, context, &settings)
            origins[key.path] = origin
        } catch {
            var fault = origin
            if case .file(let path, _) = origin, let position = error.position {
                fault = .file(path: path, position: position)
            }
            problems.append(SettingsProblem(origin: fault, key: key.path, message: error.message))
        }
    }

    /// Checks that involve several keys.
    mutating func checkTogether() {
        guard problems.isEmpty else { return }
        let directory = settings.service.downloadDirectory
        let isBeneath = settings.service.roots.contains { root in
            root == "/" || directory == root || directory.hasPrefix(root + "/")
        }
        guard !isBeneath else { return }
        guard origins["download.roots"] != nil else {
            settings.service.roots.append(directory)
            return
        }
        // Blame the key that was written: if only the roots were, the directory is a default.
        let key = origins["download.dir"] == nil ? "download.roots" : "download.dir"
        let roots = settings.service.roots.joined(separator: ", ")
        problems.append(
            SettingsProblem(
                origin: origins[key] ?? .default, key: key,
                message: "download.dir (\(directory)) has to be beneath one of download.roots (\(roots))"))
    }

    private var sectionNames: [String] {
        SettingKey.all.map(\.section).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    private func unknown(_ path: String) -> String {
        // A valid key in the wrong section, or at the top level.
        let name = path.split(separator: ".").last.map(String.init) ?? path
        if let key = SettingKey.all.first(where: { $0.name == name }), path != key.path {
            return "unknown key, did you mean \(key.path)?"
        }
        guard path.contains(".") else { return Suggestion.unknown(path, among: sectionNames) }
        let section = path.prefix { $0 != "." }
        let names = SettingKey.all.filter { $0.section == section }.map(\.name)
        return Suggestion.unknown(path, among: SettingKey.all.map(\.path), accepted: names)
    }
}

extension SettingKey {
    /// The key with that path.
    public static func named(_ path: String) -> SettingKey? { all.first { $0.path == path } }
}

/// The effects of a reload: the new values that take effect now, and those that wait for a restart.
public struct SettingsReload: Hashable, Sendable {
    /// The settings in force from now on.
    public let inForce: LoadedSettings
    /// Keys whose new value took effect, in the order of `SettingKey.all`.
    public let applied: [String]
    /// Keys whose value in the file differs from the one in force until a restart.
    public let waitingForRestart: [String]
}

extension LoadedSettings {
    /// Compares with freshly loaded settings.
    public func reload(to newer: LoadedSettings) -> SettingsReload {
        var inForce = newer
        var applied: [String] = []
        var waiting: [String] = []
        for key in SettingKey.all where !key.isEqual(settings, newer.settings) {
            if key.appliesOnReload {
                applied.append(key.path)
            } else {
                waiting.append(key.path)
                key.copy(settings, &inForce.settings)
                inForce.origins[key.path] = origins[key.path]
            }
        }
        return SettingsReload(inForce: inForce, applied: applied, waitingForRestart: waiting)
    }
}

/// "Did you mean": the known name nearest to an unknown one.
enum Suggestion {
    /// The highest number of accepted names that a message lists.
    private static let longestList = 40

    /// The message for an unknown key: the nearest known one, else those that are accepted.
    ///
    /// - Parameter accepted: the keys to list; nil means `known`.
    static func unknown(_ name: String, among known: [String], accepted: [String]? = nil) -> String {
        if let near = nearest(to: name, among: known) { return "unknown key, did you mean \(near)?" }
        let accepted = accepted ?? known
        guard !accepted.isEmpty else { return "unknown key" }
        let more = accepted.count > longestList ? ", …" : ""
        return "unknown key, expected \(accepted.prefix(longestList).joined(separator: ", "))\(more)"
    }

    /// The known name with the fewest edits, if they are at most a third of its length and at least one is allowed.
    static func nearest(to name: String, among known: [String]) -> String? {
        let sought = Array(name.lowercased().unicodeScalars)
        let ranked = known.map { (name: $0, distance: EditDistance.between(sought, Array($0.unicodeScalars))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.name.count / 3) ? best.name : nil
    }
}
