import Glibc

/// The log of libdispatch, which reaches the journal by syslog(3).
public enum DispatchLog {
    /// Switches the log off unless the environment sets `LIBDISPATCH_LOG`. Call it while the process has one thread.
    ///
    /// libdispatch raises the priority of the threads of GRDB's queues and of its own manager, and logs a line for each
    /// that the system refuses. The system refuses that to every process without `CAP_SYS_NICE`.
    public static func silence() { setenv("LIBDISPATCH_LOG", "NO", 0) }
}
