@testable import XferDaemon

/// `docs/reference/configuration.md`, from `SettingKey.all`.
enum ConfigurationReference {
    static func text() throws -> String {
        let user = Settings(defaultsFor: try userPaths())
        let system = Settings(defaultsFor: try systemPaths())
        var output = title("Configuration keys") + introduction
        var section = ""
        for key in SettingKey.all {
            if key.section != section {
                section = key.section
                output += "## \(code(section))\n\n"
            }
            output += entry(key, user: key.write(user), system: key.write(system))
        }
        return String(output.dropLast())
    }

    private static let home = "/home/ada"

    /// The paths of a user's instance.
    static func userPaths() throws -> InstancePaths { try InstancePaths(environment: ["HOME": home], uid: 1000) }

    /// The paths of the system's instance.
    static func systemPaths() throws -> InstancePaths {
        try InstancePaths(
            environment: ["HOME": "/", "STATE_DIRECTORY": "/var/lib/xferd/state:/var/lib/xferd/downloads"], uid: 990)
    }

    /// A user's value, with `~` in place of the home.
    static func shown(_ value: String) -> String { value.replacing(home, with: "~") }

    private static let introduction = """
        Every key is optional. SIGHUP, or saving the file, reloads the configuration. Sizes take units
        such as `512K` (1,000) and `1Mi` (1,048,576).


        """

    private static func entry(_ key: SettingKey, user: String, system: String) -> String {
        let shown = shown(user)
        var lines = ["### \(code(key.path))", "", "\(key.summary).", "", "* Accepted: \(key.expected)"]
        lines.append("* Default: \(code(shown))" + (user == system ? "" : "; of the system's instance \(code(system))"))
        lines.append("* A change takes a \(key.appliesOnReload ? "reload" : "restart")")
        lines.append("* Environment: \(code(key.environmentName))")
        guard !key.fields.isEmpty else { return lines.joined(separator: "\n") + "\n\n" }
        var table = MarkdownTable("Member", "Meaning")
        for field in key.fields { table.rows.append([code(field.name), field.documentation]) }
        return lines.joined(separator: "\n") + "\n\n" + table.text + "\n"
    }
}
