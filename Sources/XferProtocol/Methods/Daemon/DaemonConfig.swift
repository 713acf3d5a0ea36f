public import StrictJSON

/// `daemon.config`: the settings that hold now.
public enum DaemonConfig: RPCMethod {
    public typealias Params = NoParams

    public static let name = "daemon.config"
    public static let summary = "Every setting with its value and where that came from. Operators only."

    public static let examples = [
        MethodExample(
            "two settings", params: [:],
            result: [
                "file": "/home/ada/.config/xferd/config.yaml",
                "settings": [
                    [
                        "key": "queue.max_active", "value": "3", "origin": "/home/ada/.config/xferd/config.yaml:2",
                        "reloadable": true,
                    ],
                    ["key": "rpc.max_clients", "value": "256", "origin": "default", "reloadable": false],
                ],
            ])
    ]

    public struct Result: WireRecord, Hashable {
        public var file: String?
        public var settings: [Setting] = []

        public init() {}

        public init(file: String?, settings: [Setting]) {
            self.file = file
            self.settings = settings
        }

        public static let summary = "The settings that hold now."
        public static let wireFields: WireFields<Self> = [
            .nullable("file", \.file, "Absolute path of the configuration file that was read; null if there was none."),
            .required("settings", \.settings, "Every setting."),
        ]
    }

    public struct Setting: WireRecord, Hashable {
        public var key = ""
        public var value = JSONValue.null
        public var origin = ""
        public var reloadable = false

        public init() {}

        public init(key: String, value: JSONValue, origin: String, reloadable: Bool) {
            self.key = key
            self.value = value
            self.origin = origin
            self.reloadable = reloadable
        }

        public static let summary = "One setting."
        public static let wireFields: WireFields<Self> = [
            .required("key", \.key, "Its name in the configuration file, with dots."),
            .required("value", \.value, "Its value as the configuration file may hold it: YAML text."),
            .required(
                "origin", \.origin,
                "Where the value came from, for people: command line, environment NAME, FILE:LINE, queue.set_limits or default."
            ),
            .required("reloadable", \.reloadable, "Whether a change takes effect without a restart."),
        ]
    }
}
