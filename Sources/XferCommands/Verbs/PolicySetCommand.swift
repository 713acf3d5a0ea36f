import ArgumentParser
import Glibc
import XferModel
import XferProtocol

/// `xferctl policy set`: `policy.set`.
struct PolicySetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Write a policy, replacing the one of that name.",
        discussion: """
            The whole policy is replaced: options that are not given have their defaults. Tasks on connections that \
            the earlier version judged stop at the next safe point and are judged again.
            """)

    @Argument(
        help: "The policy's name; default is the one for hosts that no pattern matches.",
        completion: .daemon(.policies))
    var name: String

    @Option(
        name: .customLong("host"),
        help: ArgumentHelp(
            "A host it is for: example.org, *.example.org or .example.org, with an optional :port; may be repeated.",
            valueName: "pattern"))
    var hosts: [String] = []

    @Option(
        help: ArgumentHelp("Requirement for a server (default: public_key with pins, else none).", valueName: "mode"))
    var mode: EnumArgument<TrustPolicy.Mode>?

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp(
            "A pin: sha256/BASE64, or a file with certificates in PEM or DER; may be repeated.", valueName: "pin"))
    var pins: [String] = []

    @Flag(help: "Accept chains that do not lead to an authority of the system.")
    var allowInvalidCertificates = false

    @Flag(help: "Do not check that the certificate is valid for the host.")
    var noDomainName = false

    @Flag(
        name: .customLong("require-stapled-ocsp"),
        help: "Refuse a server without a stapled OCSP response that shows that its certificate is not revoked.")
    var requireStapledOCSP = false

    @Flag(help: "Only report what would be refused.")
    var reportOnly = false

    @Option(
        help: ArgumentHelp("After this the pins are no longer enforced: +90d, 2027-01-01 10:00.", valueName: "time"),
        transform: TimeArgument.argument)
    var expiresAt: TimeArgument?

    @Option(
        name: .customLong("min-tls"), help: ArgumentHelp("Lowest TLS version (default: 1.2).", valueName: "version"))
    var minTLS: EnumArgument<TLSVersion>?

    @Option(
        help: ArgumentHelp("A client certificate, a PEM file the daemon reads.", valueName: "file"),
        completion: .file())
    var clientCertificate: String?

    @Option(help: ArgumentHelp("The client certificate's key.", valueName: "file"), completion: .file())
    var clientKey: String?

    @OptionGroup var options: ActionOptions

    mutating func validate() throws {
        if (clientCertificate == nil) != (clientKey == nil) {
            throw ValidationError("--client-certificate and --client-key need each other.")
        }
    }

    func run() throws {
        let answer = try options.open().call(PolicySet.self, PolicySet.Params(policy: try policy()))
        options.show(answer) { result, terminal in PolicyText(style: terminal.style).lines(result.policy) }
    }

    private func policy() throws(CommandFailure) -> PolicyInput {
        var policy = PolicyInput()
        policy.name = name
        policy.hosts = hosts
        for pin in pins { policy.pins.append(try PinFile.pin(pin)) }
        policy.mode = mode?.word ?? (pins.isEmpty ? .none : .publicKey)
        policy.allowInvalidCertificates = allowInvalidCertificates
        policy.validatesDomainName = !noDomainName
        policy.reportOnly = reportOnly
        policy.requireStapledOCSP = requireStapledOCSP
        policy.expiresAt = expiresAt?.time
        policy.minTLS = minTLS?.word ?? .tls12
        if let clientCertificate, let clientKey {
            guard let paths = PathResolver.current(for: options.connection) else {
                throw .usage("the current directory is gone; change to another one")
            }
            var files = ClientCertificateRecord()
            files.certificate = paths.absolute(clientCertificate)
            files.key = paths.absolute(clientKey)
            policy.clientCertificate = files
        }
        return policy
    }
}

/// Reads pins from arguments: a pin itself, or the name of a certificate file. `xferctl` reads the file, because the
/// daemon may lack the permission.
enum PinFile {
    /// Returns `sha256/…` unchanged, and the content of a file as PEM.
    static func pin(_ argument: String) throws(CommandFailure) -> String {
        if argument.hasPrefix("sha256/") { return argument }
        let descriptor = open(argument, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .usage(
                "--pin: \(SafeText.sanitised(argument)) is neither sha256/… nor a file that can be read: "
                    + String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { throw .usage("--pin: \(SafeText.sanitised(argument)) cannot be read or is empty") }
        bytes.removeSubrange(count...)
        if let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN") { return text }
        return pem(bytes)
    }

    /// Encodes DER as PEM (RFC 7468 §5). The daemon checks that it is a certificate.
    private static func pem(_ der: [UInt8]) -> String {
        var rest = Substring(Base64.encode(der))
        var lines = ["-----BEGIN CERTIFICATE-----"]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
    }
}
