extension LoadedSettings {
    /// The effective configuration as YAML with the origin of each value, for `--print-config`.
    ///
    /// The text has the format of the configuration file, but secrets of profiles are masked. The origin of a value
    /// from a file includes its line.
    public var yaml: String { text { "  # \(origin(of: $0))" } }

    fileprivate func text(_ comment: (SettingKey) -> String) -> String {
        var output = ""
        var section = ""
        for key in SettingKey.all {
            if key.name.isEmpty {
                output += "\(key.path): \(key.write(settings))\(comment(key))\n"
                continue
            }
            if key.section != section {
                section = key.section
                output += "\(section):\n"
            }
            output += "  \(key.name): \(key.write(settings))\(comment(key))\n"
        }
        return output
    }
}

extension SettingKey {
    /// The text of a configuration file with every key and its default value. Comments give each key's purpose,
    /// environment variable and allowed values.
    public static func reference(for instance: InstancePaths) -> String {
        let defaults = Settings(defaultsFor: instance)
        var output = ""
        var section = ""
        for key in all {
            let reload = key.appliesOnReload ? "" : " Takes a restart."
            let comments = ["# \(key.summary).\(reload)", "# \(key.environmentName): \(key.expected)."]
            if key.section != section { output += section.isEmpty ? "" : "\n" }
            if key.name.isEmpty {
                section = key.section
                output += comments.map { $0 + "\n" }.joined() + "\(key.path): \(key.write(defaults))\n"
                continue
            }
            if key.section != section {
                section = key.section
                output += "\(section):\n"
            }
            output += comments.map { "  \($0)\n" }.joined()
            output += "  \(key.name): \(key.write(defaults))\n"
        }
        return output
    }
}
