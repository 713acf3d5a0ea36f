import Glibc

/// Checks of invariants that cost too much in service. They are on in debug builds, and where `XFER_CHECK_INVARIANTS`
/// is set in the environment: the tests set it for themselves and for the optimised programs that they start.
public enum InvariantChecks {
    /// True if the checks are made.
    public static let areOn: Bool = {
        var isDebug = false
        assert(
            {
                isDebug = true
                return true
            }())
        return isDebug || getenv("XFER_CHECK_INVARIANTS") != nil
    }()

    /// Ends the process if checks are on and `condition` is false.
    @inline(__always)
    public static func require(_ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String) {
        if areOn && !condition() { fatalError(message()) }
    }
}
