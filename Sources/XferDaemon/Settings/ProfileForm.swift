import StrictJSON
import XferManager
import XferModel
import XferProtocol

/// The form of the setting `profiles`: a mapping of names to the fields of `profile.set`.
extension SettingForm where Value == [Profile] {
    private static let record = RecordForm<ProfileInput>(keyedBy: "name", quotesScalars: false)
    private static let expectation = "a mapping of names to profiles, each a mapping with base_url, headers, …"

    static let profiles = SettingForm(expected: expectation, isScalar: false, fields: record.fields) {
        node, context throws(SettingMismatch) in
        try record.readAll(node, context, expected: expectation) { member, input throws(SettingMismatch) in
            do throws(ProfileTextError) {
                let profile = try input.readProfile()
                try ProfileText.check(profile)
                return profile
            } catch {
                throw record.mismatch(error.field, error.description, member.value, at: member.key)
            }
        }
    } write: { profiles in
        // `ProfileRecord` masks secrets, so that --print-config does not show them.
        "{" + profiles.map(text).joined(separator: ", ") + "}"
    }

    private static func text(of profile: Profile) -> String {
        guard case .object(var fields) = ProfileRecord(profile, origin: .configuration).wire else { return "" }
        fields["name"] = nil
        fields["origin"] = nil
        return "\(YAMLText.quoted(profile.name)): \(YAMLText.flow(.object(fields)))"
    }
}
