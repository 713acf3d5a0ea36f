public import Glibc

/// A system call that failed: which, on what, and `errno` (errno(3)).
public struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    public let call: String
    /// The path or descriptor of the call; empty where there is none.
    public let subject: String
    public let code: CInt

    /// Uses the current `errno`, unless one is given.
    public init(_ call: String, on subject: String = "", code: CInt = errno) {
        self.call = call
        self.subject = subject
        self.code = code
    }

    public var description: String {
        let place = subject.isEmpty ? "" : " \(subject)"
        return "\(call)\(place): \(String(cString: strerror(code)))"
    }
}
