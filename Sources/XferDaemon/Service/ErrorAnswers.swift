import JSONRPC
import StrictJSON
import XferManager
import XferModel
import XferProtocol

/// Converts all errors into answers on the wire.
enum ErrorAnswers {
    static func answer(to error: any Error) -> RPCError {
        switch error {
        case let error as RPCError: error
        case let error as RPCFailure: answer(error)
        case let error as WireError: answer(RPCFailure(error))
        case let error as ManagerError: answer(error.failure)
        case is CancellationError: RPCError.internalError("the call was cancelled")
        default: RPCError.internalError("\(error)")
        }
    }

    private static func answer(_ failure: RPCFailure) -> RPCError {
        RPCError(Int(clamping: failure.code), failure.message, data: failure.data?.wire)
    }
}
