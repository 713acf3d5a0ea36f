/// Which values of a field a guest may give, where that is less than an operator may.
///
/// The daemon refuses a guest's other values when it admits the request. A test gives a refused value to each field that
/// declares one, as a guest.
public enum FieldAccess: String, Sendable, CaseIterable {
    /// None: the answer is `permission_denied`.
    case operators
    /// Paths beneath the roots granted to the guest that the guest itself could read or write: for others the answer is
    /// `permission_denied`.
    case ownFiles = "own_files"
    /// Hooks that are configured for guests: for others the answer is the one for a name that does not exist.
    case guestHooks = "guest_hooks"
    /// Up to the priority granted to the guest: for higher ones the answer is `permission_denied`.
    case grantedPriority = "granted_priority"
    /// The guest's own uid: what belongs to another is not found.
    case ownUID = "own_uid"
    /// With a profile that has secrets, only what cannot send them to another server than the profile does: otherwise
    /// the answer is `permission_denied`.
    case noProfileSecrets = "no_profile_secrets"

    /// A sentence for the reference.
    public var summary: String {
        switch self {
        case .operators: "Operators only."
        case .ownFiles: "Guests may name only files beneath their roots that they could use themselves."
        case .guestHooks: "Guests may name only hooks that are configured for guests."
        case .grantedPriority: "Guests may give at most the priority granted to them."
        case .ownUID: "Guests may name only themselves."
        case .noProfileSecrets: "Guests may not send a profile's secrets elsewhere with it."
        }
    }
}
