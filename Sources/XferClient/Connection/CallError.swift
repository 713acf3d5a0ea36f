public import XferProtocol

/// Why a call has no result.
public enum CallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The daemon answered with an error.
    case refused(RPCFailure)
    /// There was no answer; it is unknown whether the call took effect.
    case connection(ConnectionError)
    /// The answer does not have the method's result type.
    case malformedResult(method: String, WireError)

    public var description: String {
        switch self {
        case .refused(let failure): failure.description
        case .connection(let error): error.description
        case .malformedResult(let method, let error): "the answer to \(method) is not understood: \(error)"
        }
    }
}
