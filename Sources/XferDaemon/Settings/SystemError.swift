public import Glibc

/// A failed system call.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// As in errno(3).
    public let number: Int32
    /// The call that failed.
    public let call: String

    public init(call: String, number: Int32 = errno) {
        self.call = call
        self.number = number
    }

    public var description: String { "\(call): \(String(cString: strerror(number)))" }
}
