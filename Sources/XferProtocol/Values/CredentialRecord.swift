import XferModel

/// User name and password for HTTP basic authentication. Coming out both are `***`.
public struct CredentialRecord: WireInput, Hashable {
    public var user = ""
    public var password = ""

    public init() {}

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// What stands in listings for a credential that is set.
    public static let masked = CredentialRecord(user: Redaction.mask, password: Redaction.mask)

    public static let summary = "A user name and password for HTTP basic authentication; *** when shown."
    public static let wireFields: WireFields<Self> = [
        .required(
            "user", \.user, "User name; without a colon (RFC 7617).", .length(1...256),
            .form("^[^:]*$", expected: "a user name without a colon") { !$0.contains(":") }),
        .required("password", \.password, "Password.", .length(0...1024)),
    ]
}
