/// The next step for a file whose intent was committed but whose end was not: after a crash, a storage failure or a
/// result that is not known.
///
/// It follows from the contents of the directory. If the directory cannot be inspected now, there is no step: the
/// intent stays, and the task waits.
public enum PublishRecovery: Hashable, Sendable {
    /// The file has its name. A partial file that also exists is removed: the crash happened between link and unlink.
    case done
    /// The file has no name, and nothing is lost: publish it again, from choosing a name.
    case `repeat`
    /// The file no longer exists: its bytes are fetched again.
    case lost

    /// - Parameters:
    ///   - isNamed: true if the final name leads to the file of the intent.
    ///   - hasPart: true if the file has its partial name.
    ///   - hadPart: false if the file had no name at all before its final one, so that a crash has deleted it.
    public init(isNamed: Bool, hasPart: Bool, hadPart: Bool) {
        if isNamed {
            self = .done
        } else {
            self = hasPart || !hadPart ? .repeat : .lost
        }
    }
}
