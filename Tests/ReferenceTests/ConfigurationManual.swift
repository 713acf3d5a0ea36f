@testable import XferCommands
@testable import XferDaemon

/// `man/xferd.yaml.5`, from `SettingKey.all` as `docs/reference/configuration.md` is.
enum ConfigurationManual {
    static func text() throws -> String {
        let user = Settings(defaultsFor: try ConfigurationReference.userPaths())
        let system = Settings(defaultsFor: try ConfigurationReference.systemPaths())
        var output = heading
        var section = ""
        for key in SettingKey.all {
            if key.section != section {
                output += section.isEmpty ? "" : ".El\n"
                section = key.section
                output += ".Ss \(section)\n.Bl -tag -width Ds\n"
            }
            output += entry(key, user: key.write(user), system: key.write(system))
        }
        return output + ".El\n" + ending
    }

    private static func entry(_ key: SettingKey, user: String, system: String) -> String {
        let shown = ConfigurationReference.shown(user)
        var output = ".It Ic \(key.path)\n" + lines(key.summary + ".")
        output += lines("Accepted: \(key.expected).")
        output += lines("Default: \(shown)" + (user == system ? "." : "; of the system's instance \(system)."))
        if !key.appliesOnReload { output += lines("A change takes a restart.") }
        guard !key.fields.isEmpty else { return output }
        output += ".Pp\n" + lines("The members of each mapping:") + ".Bl -tag -width Ds -compact\n"
        for field in key.fields { output += ".It Cm \(field.name)\n" + lines(field.documentation) }
        return output + ".El\n"
    }

    /// Text as lines of mdoc(7).
    static func lines(_ text: String) -> String {
        Roff.lines(text.replacing("\\", with: "\\e").replacing("…", with: "...")).map { line in
            (line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" : "") + line + "\n"
        }
        .joined()
    }

    private static let heading = #"""
        .\" A test generates this file: XFER_UPDATE_SCHEMA=1 swift test --filter ReferenceTests
        .Dd January 1, 2026
        .Dt XFERD.YAML 5
        .Os
        .Sh NAME
        .Nm xferd.yaml
        .Nd configuration of the background transfer service
        .Sh DESCRIPTION
        .Xr xferd 8
        reads its configuration from one YAML file.
        The file holds a mapping of sections, and each section a mapping of keys.
        Every key is optional.
        .Pp
        A value of the command line
        .Pq Fl Fl set
        wins over the environment, and the environment wins over the file.
        The variable of a key is its name in capitals with underscores:
        .Ev XFERD_QUEUE_MAX_ACTIVE
        sets
        .Ic queue.max_active .
        Variables hold lists and mappings in YAML's flow style.
        .Pp
        SIGHUP, or saving the file, reloads the configuration.
        A faulty configuration changes nothing;
        .Ql xferd --check-config
        names the line and the column of each fault.
        .Sh KEYS

        """#

    private static let ending = #"""
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa /etc/xferd/config.yaml
        Configuration of the system's instance.
        .It Pa ~/.config/xferd/config.yaml
        Configuration of a user's instance.
        .El
        .Sh EXAMPLES
        .Bd -literal -offset indent
        queue:    { max_active: 6, max_active_per_host: 4 }
        download: { dir: ~/Downloads, roots: ["~"] }
        hooks:    { scan: { argv: [/usr/bin/clamdscan, --no-summary] } }
        webhooks: { deploy: { url: https://ci.example.org/xfer } }
        .Ed
        .Sh SEE ALSO
        .Xr xferctl 1 ,
        .Xr xferd 8

        """#
}
