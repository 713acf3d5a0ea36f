import StrictJSON
import XferGateway
import XferModel
public import XferProtocol

extension Settings {
    /// One entry of `listen`.
    public struct Listener: WireInput, Hashable {
        public var address = ""
        public var tls: CertificatePaths?
        public var hosts: [String] = []
        public var origins: [String] = []
        public var insecure = false

        public init() {}

        public static let summary = "Network address on which the daemon listens."
        public static let wireFields: WireFields<Self> = [
            .required("address", \.address, "A numeric address and a port.", .length(1...64)),
            .optional("tls", \.tls, "Files of the certificate; without them the listener uses plain HTTP."),
            .defaulted(
                "hosts", \.hosts, "Host names that clients use for it, in addition to its addresses and localhost.",
                .count(0...64)),
            .defaulted(
                "origins", \.origins, "Origins of web pages that may call, for example https://ui.example.org.",
                .count(0...64)),
            .defaulted("insecure", \.insecure, "Allow plain HTTP on an address other than loopback."),
        ]

        /// The listener; nil if the address is invalid, which `SettingForm.listeners` refuses.
        var configuration: ListenerConfiguration? {
            ListenAddress(address).map { address in
                ListenerConfiguration(
                    address: address, tls: tls.map { $0.files }, hosts: hosts.map { $0.lowercased() },
                    origins: origins.map { $0.lowercased() })
            }
        }
    }

    /// The files of a listener's certificate.
    public struct CertificatePaths: WireInput, Hashable {
        public var certificate = ""
        public var key = ""
        public var clientAuthorities: String?

        public init() {}

        public static let summary = "The files of a certificate."
        public static let wireFields: WireFields<Self> = [
            .required(
                "certificate", \.certificate,
                "PEM file with the certificate, followed by those of intermediate authorities."),
            .required("key", \.key, "PEM file with its private key."),
            .optional(
                "client_ca", \.clientAuthorities,
                "PEM file with the authorities of client certificates; with it, clients must present one."),
        ]

        var files: ListenerConfiguration.TLS {
            ListenerConfiguration.TLS(certificate: certificate, key: key, clientAuthorities: clientAuthorities)
        }
    }
}

/// The form of `listen`: a list of listeners, or a single listener.
extension SettingForm where Value == [Settings.Listener] {
    private static let expectation = "a list of listeners, each a mapping with address, tls, hosts, origins, insecure"
    private static let record = RecordForm<Settings.Listener>(readers: [
        "hosts": { node, _ throws(SettingMismatch) in try texts(node, "hosts", ListenText.hostFault) },
        "origins": { node, _ throws(SettingMismatch) in try texts(node, "origins", ListenText.originFault) },
        "tls.certificate": path, "tls.key": path, "tls.client_ca": path,
    ])

    private static let path: RecordForm<Settings.Listener>.Reader = { node, context throws(SettingMismatch) in
        .string(try SettingForm<String>.path.read(node, context))
    }

    static let listeners = SettingForm(expected: expectation, isScalar: false, fields: record.fields) {
        node, context throws(SettingMismatch) in
        if node.isNull { return [] }
        var listeners: [Settings.Listener] = []
        for (index, item) in node.items.enumerated() {
            do throws(SettingMismatch) {
                guard item.members != nil else { throw SettingMismatch(expected: record.expected, found: item) }
                let listener = try record.read(item, context)
                try check(listener, item)
                if listeners.contains(where: { $0.address == listener.address }) {
                    throw record.mismatch("address", "another listener has this address", item)
                }
                listeners.append(listener)
            } catch {
                throw error.within("[\(index)]")
            }
        }
        return listeners
    } write: { listeners in
        "[" + listeners.map { record.write($0) }.joined(separator: ", ") + "]"
    }

    private static func check(
        _ listener: Settings.Listener, _ node: ConfigurationNode
    ) throws(SettingMismatch) {
        guard let address = ListenAddress(listener.address) else {
            throw record.mismatch(
                "address", "expected \(ListenAddress.expected), found \"\(listener.address.prefix(80))\"", node)
        }
        guard listener.tls == nil, !address.isLoopback, !listener.insecure else { return }
        throw record.mismatch(
            "address",
            "plain HTTP is for loopback only, since others could read the tokens: give tls, or insecure: true", node)
    }

    private static func texts(
        _ node: ConfigurationNode, _ field: String, _ fault: (String) -> String?
    ) throws(SettingMismatch) -> JSONValue {
        var found: [JSONValue] = []
        for (index, item) in node.items.enumerated() {
            guard let text = item.text, !item.isNull, fault(text) == nil else {
                let expected = item.text.flatMap(fault) ?? "a text"
                throw SettingMismatch(expected: expected, found: item).within("[\(index)]")
            }
            found.append(.string(text))
        }
        return .array(found)
    }
}

/// The texts of a listener's lists.
enum ListenText {
    /// A description of the expected text if this one is not a host name; nil if it is.
    static func hostFault(_ text: String) -> String? {
        let isName = text.utf8.allSatisfy {
            (48...57).contains($0) || (97...122).contains($0 | 0x20) || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
        return isName && !text.isEmpty && !text.hasPrefix(".") && text.utf8.count <= 253
            ? nil : "a host's name without a port, for example xfer.example.org"
    }

    /// The schemes of web pages and of browser extensions, which have schemes of their own.
    private static let originSchemes: Set<String> = ["http", "https", "chrome-extension", "moz-extension"]

    /// A description of the expected text if this one is not an origin in browsers' form; nil if it is.
    static func originFault(_ text: String) -> String? {
        let expected = "an origin without a path, for example https://ui.example.org or http://localhost:8080"
        guard let separator = text.firstRange(of: "://"),
            originSchemes.contains(text[..<separator.lowerBound].lowercased())
        else { return expected }
        let rest = text[separator.upperBound...]
        let isPlain = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Array("/?#@*\\".utf8).contains($0) }
        return isPlain && !rest.isEmpty ? nil : expected
    }
}
