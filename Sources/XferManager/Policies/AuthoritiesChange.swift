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
    static func take(_ found: String?, in tx: StoreTransaction) throws -> String {
        let stored = try tx.setting(key)
        guard let found, found != stored else { return stored ?? "" }
        if stored != nil { try tx.doubtUnrecordedSources() }
        try tx.setSetting(key, found)
        return found
    }
}

extension TransferManager {
    /// Reads the authorities' file again. Stops runs over connections that other contents judged.
    func takeAuthorities() async {
        let file = settings.authoritiesFile
        let known = services.policies.withLockedValue(\.authorities)
        let found: String
        do throws(AuthoritiesError) {
            found = try await inspections.run { () throws(AuthoritiesError) in
                try Authorities.fingerprint(ofFile: file, known: known)
            }
        } catch {
            logger.error(
                "the certificate authorities stay as they were", metadata: ["error": "\(error.description)"])
            return
        }
        guard found != known else { return }
        await policyGate.enter()
        let tooLate: [TaskID]
        do {
            defer { policyGate.leave() }
            do {
                let taken = try await store.write { try AuthoritiesChange.take(found, in: $0) }
                services.policies.withLockedValue { $0.authorities = taken }
            } catch {
                // They are in force all the same: the next start compares with the contents recorded last.
                logger.warning("the new authorities could not be recorded", metadata: ["error": "\(error)"])
                services.policies.withLockedValue { $0.authorities = found }
            }
            logger.notice("the certificate authorities have changed: what runs over TLS is judged anew")
            tooLate = await reevaluateTrust(retiringAll: true)
        }
        for id in tooLate { await runEnded(id) }
    }
}
