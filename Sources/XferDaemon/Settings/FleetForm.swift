import XferModel

extension Settings {
    /// The settings that make this machine's daemon a node of a fleet, for `xfer-fleet`.
    public struct Fleet: Hashable, Sendable {
        /// A connection URI or a list of `keyword=value` of libpq, without a password; empty is no fleet.
        public var database = ""
        /// Absolute path; empty is none.
        public var passwordFile = ""
        /// The node's name; empty is the machine's name.
        public var node = ""
        /// Tasks for `label:NAME` run on nodes that have it.
        public var labels: [String] = []
        /// The mount points of shared storages by their names: absolute paths. Tasks for `storage:NAME` run on nodes
        /// that have it.
        public var storages: [String: String] = [:]
        /// The number of tasks that the node claims at a time.
        public var slots = 64
        /// The Unix socket of `xfer-fleet`.
        public var socket: String
        /// The addresses on which `xfer-fleet` listens on the network; empty is none.
        public var listen: [Listener] = []
        /// The Unix socket of `xferd`.
        public var daemon: String

        /// Defaults with which both programs find each other without any configuration.
        init(defaultsFor instance: InstancePaths) {
            switch instance.kind {
            case .system:
                socket = "/run/xfer-fleet/xfer-fleet.sock"
                daemon = "/run/xferd/xferd.sock"
            case .user:
                socket = InstancePaths.directory(of: instance.socket) + "/xfer-fleet.sock"
                daemon = instance.socket
            }
        }
    }
}

extension SettingForm where Value == String {
    /// The address of a database for libpq. A password in it would be shown by `--print-config` and by listings.
    static let databaseAddress = SettingForm(
        expected:
            "a connection URI of PostgreSQL such as postgresql://xfer@db.example.org/xfer, or keyword=value pairs",
        isScalar: true
    ) { node, _ throws(SettingMismatch) in
        guard let text = node.text, !text.utf8.contains(0) else {
            throw SettingMismatch(expected: "a connection URI of PostgreSQL, or keyword=value pairs", found: node)
        }
        guard !DatabaseAddressText.holdsPassword(text) else {
            throw SettingMismatch("it contains a password, which belongs in fleet.password_file", at: node)
        }
        guard text.isEmpty || DatabaseAddressText.isURI(text) || text.contains("=") else {
            throw SettingMismatch(expected: "a connection URI of PostgreSQL, or keyword=value pairs", found: node)
        }
        return text
    } write: {
        YAMLText.quoted($0)
    }

    /// An absolute path, or nothing.
    static let optionalPath = SettingForm(expected: path.expected + ", or nothing", isScalar: true) {
        node, context throws(SettingMismatch) in
        node.text?.isEmpty == true ? "" : try path.read(node, context)
    } write: {
        YAMLText.quoted($0)
    }

    /// A node's name, which is part of places and listings.
    static let nodeName = SettingForm(expected: FleetPlace.expectedName + ", or nothing", isScalar: true) {
        node, _ throws(SettingMismatch) in
        guard let text = node.text, text.isEmpty || FleetPlace.isName(text) else {
            throw SettingMismatch(expected: FleetPlace.expectedName, found: node)
        }
        return text
    } write: {
        YAMLText.quoted($0)
    }
}

extension SettingForm where Value == [String: String] {
    /// Shared storages: where this node has mounted each.
    static let storages = SettingForm(
        expected: "a mapping from names to absolute paths", isScalar: false
    ) { node, context throws(SettingMismatch) in
        guard let members = node.members else {
            throw SettingMismatch(expected: "a mapping from names to absolute paths", found: node)
        }
        var storages: [String: String] = [:]
        for member in members {
            guard let name = member.key.text, FleetPlace.isName(name) else {
                throw SettingMismatch(expected: FleetPlace.expectedName, found: member.key)
            }
            storages[name] = try SettingForm<String>.path.read(member.value, context)
        }
        return storages
    } write: { storages in
        let members = storages.sorted { $0.key < $1.key }.map {
            "\(YAMLText.quoted($0.key)): \(YAMLText.quoted($0.value))"
        }
        return "{" + members.joined(separator: ", ") + "}"
    }
}

extension SettingForm where Value == [String] {
    /// Labels of a node; a single label is allowed instead of a list.
    static let labels = list(expected: "a list of labels") { text, node throws(SettingMismatch) in
        guard FleetPlace.isName(text) else { throw SettingMismatch(expected: FleetPlace.expectedName, found: node) }
        return text
    } write: {
        $0
    }
}

/// The checks of a database's address that need no libpq.
enum DatabaseAddressText {
    static func isURI(_ text: String) -> Bool { text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") }

    /// True if the text contains a password or the passphrase of a key, by libpq's rules (PostgreSQL 15, 34.1.1).
    ///
    /// It may also find one where libpq would not: then the address is refused, and nothing is revealed.
    static func holdsPassword(_ text: String) -> Bool {
        let words = decoded(text).lowercased()
        var rest = words[...]
        while let found = rest.firstRange(of: "password") {
            rest = rest[found.upperBound...]
            if rest.first(where: { !$0.isWhitespace }) == "=" { return true }
        }
        guard isURI(text) else { return false }
        guard let begin = text.firstRange(of: "://")?.upperBound else { return false }
        let authority = text[begin...].prefix { $0 != "/" && $0 != "?" }
        guard let at = authority.lastIndex(of: "@") else { return false }
        return authority[..<at].contains(":")
    }

    /// The text with its percent escapes replaced: libpq decodes the names of parameters, too.
    private static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"),
                let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
