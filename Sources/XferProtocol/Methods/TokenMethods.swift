import StrictJSON
public import XferModel

/// The methods of `token.*`, in the order of the document.
enum TokenMethods {
    static let all: [any RPCMethod.Type] = [TokenAdd.self, TokenList.self, TokenRevoke.self]
}

extension TokenScope: WireEnum {
    /// True if a token of this scope may call a method of that one. The rights of its user are checked besides.
    public func allows(_ scope: MethodScope) -> Bool {
        switch self {
        case .metrics: false
        case .read: scope == .read
        case .add: scope == .add
        case .own: scope != .operate
        case .operate: true
        }
    }
}

/// `token.add`: makes a token.
public enum TokenAdd: RPCMethod {
    public static let name = "token.add"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Creates a token for clients on the network. It is returned once; xferd stores only its hash. Only over the Unix socket."
    public static let errors: [ErrorCode] = [.conflict, .limitExceeded, .storageUnavailable]
    public static let examples = [
        MethodExample(
            "for a phone that adds downloads", params: ["name": "phone", "user": "ada", "scope": "add"],
            result: [
                "token": ["name": "phone", "user": 1000, "scope": "add", "created_at": "2026-01-02T03:04:05.000Z"],
                "secret": "xfer_3f1c0d6be2a9475f8c1e7d20b4a96f355d0c8be71a42f96e03bd7c58a1e4f627",
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""
        public var user: String?
        public var scope = TokenScope.add
        public var expiresAt: Timestamp?
        public var directory: String?

        public init() {}

        public init(
            name: String, user: String? = nil, scope: TokenScope, expiresAt: Timestamp? = nil, directory: String? = nil
        ) {
            self.directory = directory
            self.name = name
            self.user = user
            self.scope = scope
            self.expiresAt = expiresAt
        }

        public static let summary = "The new token."
        public static let wireFields: WireFields<Self> = [
            .required(
                "name", \.name, "Unique name by which it is listed and revoked.", .length(1...64), .visible,
                example: "phone"),
            .optional(
                "user", \.user, "User the token acts for: a name or a decimal uid; default is the caller.",
                .length(1...256), .visible, example: "ada"),
            .required("scope", \.scope, "Rights of the token, within the rights of its user."),
            .optional("expires_at", \.expiresAt, "Expiry; default is never."),
            .optional(
                "dir", \.directory,
                "With the scope add or own: the directory beneath which its tasks write; default is download.dir.",
                .length(1...TaskLimits.pathLength), .printable, .absolutePath, example: "/srv/phone"),
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var token = TokenRecord()
        public var secret = ""

        public init() {}

        public init(token: TokenRecord, secret: String) {
            self.token = token
            self.secret = secret
        }

        public static let summary = "The new token."
        public static let wireFields: WireFields<Self> = [
            .required("token", \.token, "Id in the answer of token.list."),
            .required("secret", \.secret, "The token itself, for Authorization: Bearer. It cannot be shown again."),
        ]
    }
}

/// `token.list`: the tokens that exist.
public enum TokenList: RPCMethod {
    public typealias Params = NamedPageParams

    public static let name = "token.list"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary = "The tokens by name, expired ones too, without the tokens themselves."
    public static let examples = [
        MethodExample(
            "one token", params: [:],
            result: [
                "tokens": [
                    [
                        "name": "phone", "user": 1000, "scope": "add", "created_at": "2026-01-02T03:04:05.000Z",
                        "expires_at": "2027-01-02T03:04:05.000Z",
                    ]
                ], "next_cursor": nil,
            ])
    ]

    public struct Result: PageRecord, Hashable {
        public var tokens: [TokenRecord] = []
        public var nextCursor: String?

        public init() {}

        public static var list: WritableKeyPath<Self, [TokenRecord]> { \.tokens }

        public static let summary = "All tokens."
        public static let wireFields: WireFields<Self> = [
            .required("tokens", \.tokens, "The tokens, by name."),
            .nextCursor(\.nextCursor),
        ]
    }
}

/// `token.revoke`: ends a token.
public enum TokenRevoke: RPCMethod {
    public typealias Result = Done

    public static let name = "token.revoke"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Revokes a token: it is refused at once, and its connections and streams are closed. Only over the Unix socket."
    public static let errors: [ErrorCode] = [.notFound, .storageUnavailable]
    public static let examples = [MethodExample("by name", params: ["name": "phone"], result: [:])]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""

        public init() {}
        public init(name: String) { self.name = name }

        public static let summary = "The token."
        public static let wireFields: WireFields<Self> = [
            .required("name", \.name, "Its name.", .length(1...64), example: "phone")
        ]
    }
}

/// A token without the token itself.
public struct TokenRecord: WireRecord, Hashable {
    public var name = ""
    public var user = Owner(uid: 0)
    public var scope: OpenEnum<TokenScope> = OpenEnum(.read)
    public var createdAt = Timestamp(microseconds: 0)
    public var expiresAt: Timestamp?
    public var directory: String?

    public init() {}

    public init(_ token: AccessToken) {
        directory = token.directory
        name = token.name
        user = token.owner
        scope = OpenEnum(token.scope)
        createdAt = token.createdAt
        expiresAt = token.expiresAt
    }

    public static let summary = "A token of clients on the network, without the token itself."
    public static let wireFields: WireFields<Self> = [
        .required("name", \.name, "Its name."),
        .required("user", \.user, "Uid of the user for whom it acts."),
        .required("scope", \.scope, "Rights of the token, within the rights of its user."),
        .required("created_at", \.createdAt, "Time at which the token was created."),
        .optional("expires_at", \.expiresAt, "Expiry; absent is never."),
        .optional("dir", \.directory, "The directory beneath which its tasks write; absent is download.dir."),
    ]
}
