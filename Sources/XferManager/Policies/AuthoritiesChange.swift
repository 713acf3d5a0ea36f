import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// Following the contents of the authorities' file (`trust.ca_file`): who was believed by an authority that is gone is judged
/// anew, as after an edit of a policy.
enum AuthoritiesChange {
    private static let key = "trust.authorities"

    /// What was in force when the last service ran.
    static func last(in reader: StoreReader) throws -> String? { try reader.setting(key) }

    /// Takes over what the file holds now. Bytes of which nobody recorded who sent them, because nothing but the built-in
    /// default judged, are doubted: they came while other authorities were in force.
    ///
    /// - Parameter found: nil when the file cannot be read: what was in force stays so.
    /// - Returns: what is in force.
    static func take(_ found: String?, in tx: StoreTransaction) throws -> String {
        let stored = try tx.setting(key)
        guard let found, found != stored else { return stored ?? "" }
        if stored != nil { try tx.doubtUnrecordedSources() }
        try tx.setSetting(key, found)
        return found
    }
}

extension TransferManager {
    /// Reads the authorities' file again. Stops what runs over connections that other contents judged.
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
                // In force all the same: the next start compares with what was written last.
                logger.warning("the new authorities could not be recorded", metadata: ["error": "\(error)"])
                services.policies.withLockedValue { $0.authorities = found }
            }
            logger.notice("the certificate authorities have changed: what runs over TLS is judged anew")
            tooLate = await reevaluateTrust(retiringAll: true)
        }
        for id in tooLate { await runEnded(id) }
    }
}
