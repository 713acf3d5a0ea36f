@testable import XferDaemon

/// `docs/reference/configuration.md`, from `SettingKey.all`.
enum ConfigurationReference {
    static func text() throws -> String {
        let paths = try InstancePaths(environment: ["HOME": home], uid: 1000)
        let systemPaths = try InstancePaths(
            environment: ["HOME": "/", "STATE_DIRECTORY": "/var/lib/xferd/state:/var/lib/xferd/downloads"], uid: 990)
        let user = Settings(defaultsFor: paths)
        let system = Settings(defaultsFor: systemPaths)
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

    private static let introduction = """
        Every key is optional. SIGHUP, or saving the file, reloads the configuration. Sizes take units
        such as `512K` (1,000) and `1Mi` (1,048,576).


        """

    private static func entry(_ key: SettingKey, user: String, system: String) -> String {
        let shown = user.replacing(home, with: "~")
        var lines = ["### \(code(key.path))", "", "\(key.summary).", "", "* Accepted: \(key.expected)"]
        lines.append("* Default: \(code(shown))" + (user == system ? "" : "; of the system's instance \(code(system))"))
        lines.append("* A change takes a \(key.appliesOnReload ? "reload" : "restart")")
        lines.append("* Environment: \(code(key.environmentName))")
        return lines.joined(separator: "\n") + "\n\n"
    }
}
