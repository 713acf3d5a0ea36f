@testable import XferDaemon

/// `systemd/config.yaml`, from `SettingKey.all`: each key in a comment, with the default of the system's instance.
enum SampleConfiguration {
    static func text() throws -> String {
        let reference = SettingKey.reference(for: try ConfigurationReference.systemPaths())
        let lines = reference.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let isComment = line.drop { $0 == " " }.hasPrefix("#")
            return line.isEmpty || isComment ? String(line) : "#" + line
        }
        return heading + lines.joined(separator: "\n")
    }

    /// The text with every key set: only a comment has one space after its `#`.
    static func uncommented() throws -> String {
        try text().split(separator: "\n").map { line in
            let isKey = line.hasPrefix("#") && (!line.hasPrefix("# ") || line.hasPrefix("#  "))
            return isKey ? line.dropFirst() : line
        }
        .joined(separator: "\n")
    }

    private static let heading = """
        # The configuration of the system's xferd, see xferd.yaml(5). Every key is here with its default. To set one,
        # remove the # before it and before its section. `systemctl reload xferd` applies it.


        """
}
