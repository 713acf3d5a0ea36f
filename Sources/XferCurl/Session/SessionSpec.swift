public import XferModel

/// Which connections a request may use: connections are shared only between equal specifications.
public struct SessionSpec: Hashable, Sendable {
    public var key: SessionKey
    public var trust: TrustSettings

    public init(key: SessionKey = SessionKey(), trust: TrustSettings = TrustSettings()) {
        self.key = key
        self.trust = trust
    }
}

/// Profile × trust policy versions × proxy.
public struct SessionKey: Hashable, Sendable {
    /// The profile's name, empty for none.
    public var profile: String
    /// Versions of the policies that judge the connection; empty is the ordinary check.
    public var trustVersions: [Int64]
    /// Proxy URL; nil connects directly (the environment's proxies are never used).
    public var proxy: String?

    public init(profile: String = "", trustVersions: [Int64] = [], proxy: String? = nil) {
        self.profile = profile
        self.trustVersions = trustVersions
        self.proxy = proxy
    }
}

/// How a session's connections are judged: libcurl's own check of chain and host name.
public struct TrustSettings: Hashable, Sendable {
    /// PEM bundle of trust anchors; nil is the system's.
    public var caFile: String?

    public init(caFile: String? = nil) {
        self.caFile = caFile
    }
}

/// Says which session a hop goes through, or why the hop is refused. Called on the engine's loop: it must not block.
public typealias SessionChooser = @Sendable (HTTPURL) throws(TransferError) -> SessionSpec
