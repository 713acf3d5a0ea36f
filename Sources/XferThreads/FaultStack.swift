import CCrash

/// The stack that a fatal signal's handler runs on, one per thread (sigaltstack(2)).
public enum FaultStack {
    /// Gives the calling thread such a stack, unless it has one. For threads that libraries started; cheap when called
    /// again.
    public static func prepare() { xfer_crash_prepare_thread() }
}
