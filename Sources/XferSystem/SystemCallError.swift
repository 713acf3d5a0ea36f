public import Glibc

/// A failed system call: its name, the object it was called on, and `errno` (errno(3)).
public struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    public let call: String
    /// The path or descriptor of the call; empty if there is none.
    public let subject: String
    public let code: CInt

    /// Creates an error with `code`, by default the current `errno`.
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
