import Glibc

/// The end of a program of the service.
public enum ProcessEnd {
    /// Ends the process at once, without what exit(3) runs before.
    ///
    /// Threads may still be at work: those of libraries, of a start that has failed, or of a disk that does not answer.
    /// The clean-up of libraries (OpenSSL) and the destructors of globals would take away what these threads use.
    public static func leave(with exit: DaemonExit) -> Never {
        fflush(nil)
        _exit(exit.rawValue)
    }
}
