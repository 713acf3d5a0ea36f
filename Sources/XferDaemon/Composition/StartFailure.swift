import XferManager
import XferModel

/// Tells failures that a person has to mend from those a restart may cure.
enum StartFailure {
    static func needsAttention(_ error: any Error) -> Bool {
        switch error {
        case is SettingsRejection, is InstancePathsError: true
        default: TransferManager.isDamage(error) || TransferManager.isPolicyFault(error)
        }
    }
}
