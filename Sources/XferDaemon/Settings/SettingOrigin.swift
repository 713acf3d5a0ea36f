/// The source of a setting's value. The cases are in order of precedence, the strongest first.
public enum SettingOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The setting was given on the command line.
    case flag
    case environment(variable: String)
    /// A position in a configuration file; nil means the whole file.
    case file(path: String, position: ConfigurationPosition?)
    case `default`

    public var description: String {
        switch self {
        case .flag: "command line"
        case .environment(let variable): "environment \(variable)"
        case .file(let path, let position?): "\(path):\(position.line)"
        case .file(let path, nil): path
        case .default: "default"
        }
    }
}

/// A place in the configuration file. Lines and columns count from 1, as in editors.
public struct ConfigurationPosition: Hashable, Sendable, Comparable {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (left: ConfigurationPosition, right: ConfigurationPosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// One fault of the settings: its place, its key and a message.
public struct SettingsProblem: Error, Hashable, Sendable, CustomStringConvertible {
    public let origin: SettingOrigin
    /// The key with its section, such as `queue.max_active`; nil if the fault is not in one key.
    public let key: String?
    public let message: String

    public init(origin: SettingOrigin, key: String? = nil, message: String) {
        self.origin = origin
        self.key = key
        self.message = message
    }

    /// `/etc/xferd/config.yaml:3:15: queue.max_active: expected …, found "six"`, as compilers write it.
    public var description: String {
        let place =
            switch origin {
            case .file(let path, let position?): "\(path):\(position.line):\(position.column)"
            default: "\(origin)"
            }
        return place + ": " + (key.map { $0 + ": " } ?? "") + message
    }
}

/// The error for refused settings: all their faults, in the order of the sources.
public struct SettingsRejection: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [SettingsProblem]

    public init(problems: [SettingsProblem]) { self.problems = problems }

    /// A line for each problem.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
