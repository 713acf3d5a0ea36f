/// A certificate and its private key, as PEM.
public struct TestCertificate: Sendable, Hashable {
    public let certificate: String
    public let privateKey: String
    /// The certificate's DER bytes.
    public let der: [UInt8]
    /// SHA-256 of the SubjectPublicKeyInfo, as pins are written: `sha256/<base64>` (RFC 7469 §2.4).
    public let keyPin: String
}

/// The kind of a test certificate's key.
public enum TestKey: Sendable, Hashable {
    /// An elliptic curve key: P-256.
    case ec
    case rsa(bits: Int32)
}

/// A certificate authority made for one test, in memory: roots, intermediates, and leaves with any defect.
public struct TestCA: Sendable {
    /// The contents of a leaf. Unset fields make a valid certificate for localhost.
    public struct Leaf: Sendable {
        public var commonName = "leaf"
        /// DNS names of the subjectAltName.
        public var names = ["localhost"]
        /// IP addresses of the subjectAltName.
        public var addresses = ["127.0.0.1", "::1"]
        public var key = TestKey.ec
        /// Beginning and end of validity, relative to now.
        public var notBefore = Duration.seconds(-3600)
        public var notAfter = Duration.seconds(86_400)
        /// `extendedKeyUsage`; nil leaves it out.
        public var usage: String? = "serverAuth"
        /// Private key (PEM) to certify again instead of a new one: a renewed certificate.
        public var privateKey: String?

        public init() {}

        /// A leaf for some other host.
        public static var wrongHost: Leaf {
            var leaf = Leaf()
            leaf.names = ["other.test"]
            leaf.addresses = []
            return leaf
        }

        /// A leaf that expired an hour ago.
        public static var expired: Leaf {
            var leaf = Leaf()
            leaf.notBefore = .seconds(-7200)
            leaf.notAfter = .seconds(-3600)
            return leaf
        }

        /// Begins in an hour.
        public static var notYetValid: Leaf {
            var leaf = Leaf()
            leaf.notBefore = .seconds(3600)
            return leaf
        }

        /// A leaf that is only valid for clients.
        public static var clientOnly: Leaf {
            var leaf = Leaf()
            leaf.usage = "clientAuth"
            return leaf
        }
    }

    public let certificate: TestCertificate
    /// Certificates between a leaf and the root, this one first, empty for a root: a server sends them after its leaf.
    private let intermediates: [String]

    /// A new root.
    public init(name: String = "xfer test root", key: TestKey = .ec) throws {
        let subject = try CertificateKey(key)
        certificate = try CertificateBuilder(commonName: name, key: subject).authority().signed(by: nil)
        intermediates = []
    }

    private init(_ certificate: TestCertificate, intermediates: [String]) {
        self.certificate = certificate
        self.intermediates = intermediates
    }

    /// The certificate as a bundle for `ca_file`.
    public var pem: String { certificate.certificate }

    /// An authority certified by this one.
    public func intermediate(name: String = "xfer test intermediate", key: TestKey = .ec) throws -> TestCA {
        let made = try CertificateBuilder(commonName: name, key: CertificateKey(key)).authority().signed(
            by: certificate)
        return TestCA(made, intermediates: [made.certificate] + intermediates)
    }

    /// A leaf certified by this authority.
    public func issue(_ leaf: Leaf = Leaf()) throws -> TestCertificate {
        try CertificateBuilder(leaf).signed(by: certificate)
    }

    /// The PEM chain a server sends: the leaf, then the intermediates.
    public func chain(for leaf: TestCertificate) -> String { ([leaf.certificate] + intermediates).joined() }

    /// A self-signed certificate.
    public static func selfSigned(_ leaf: Leaf = Leaf()) throws -> TestCertificate {
        try CertificateBuilder(leaf).signed(by: nil)
    }
}
