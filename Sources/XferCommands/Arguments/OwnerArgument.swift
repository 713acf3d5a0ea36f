import ArgumentParser
import Glibc
import XferModel

/// The user of `--owner`: a uid, or the name of a user of this machine.
enum OwnerArgument {
    /// Reads an argument.
    ///
    /// - Throws: `ValidationError` for a name that no user has.
    static func argument(_ text: String) throws -> Owner {
        if let uid = UInt32(text, radix: 10) { return Owner(uid: uid) }
        // A directory of users on the network may not answer.
        guard let uid = BoundedLookup.run({ _ in getpwnam(text)?.pointee.pw_uid }) ?? nil else {
            throw ValidationError(
                "this machine knows no user \"\(SafeText.sanitised(text))\"; expected a user's name, or a uid from 0 to "
                    + "\(UInt32.max)")
        }
        return Owner(uid: uid)
    }
}
