import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// Follows the contents of the authorities' file (`trust.ca_file`). Servers that a removed authority vouched for are
/// judged again, as after a change of a policy.
enum AuthoritiesChange {
    private static let key = "trust.authorities"

    /// The contents in force when the last service ran.
    static func last(in reader: StoreReader) throws -> String? { try reader.setting(key) }

    /// Applies the current contents of the file. If only the built-in default judged kept bytes, their servers were not
    /// recorded; such bytes are doubted, because they arrived under other authorities.
    ///
    /// - Parameter found: nil if the file cannot be read; then nothing changes.
    /// - Returns: the contents in force.
    static func apply(_ found: String?, in tx: StoreTransaction) throws -> String {
        let stored = try tx.setting(key)
        guard let found, found != stored else { return stored ?? "" }
        if stored != nil { try tx.doubtUnrecordedSources() }
        try tx.setSetting(key, found)
        return found
    }
}
