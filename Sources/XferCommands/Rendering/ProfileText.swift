import StrictJSON
import XferModel
import XferProtocol

/// Profiles in words.
struct ProfileText: Sendable {
    let style: Style

    func table(_ profiles: [ProfileRecord], width: Int?) -> [String] {
        var table = Table(columns: [
            Table.Column(title: "NAME"), Table.Column(title: "BASE URL", isFlexible: true),
            Table.Column(title: "CREDENTIAL"), Table.Column(title: "COOKIES"), Table.Column(title: "FROM"),
        ])
        for profile in profiles {
            table.rows.append([
                Table.Cell(profile.name), Table.Cell(profile.baseURL ?? ""),
                Table.Cell(profile.access.credential.applied(to: nil).map { $0.scheme?.wireName ?? "basic" } ?? ""),
                Table.Cell(profile.cookies?.description ?? ""), Table.Cell(profile.origin.description),
            ])
        }
        return table.lines(style: style, width: width)
    }

    /// One line for each field, named as on the wire.
    func lines(_ profile: ProfileRecord) -> [String] {
        (profile.wire.objectValue?.members ?? []).map { name, value in
            style(.bold, TextWidth.padded(name, to: 17)) + SafeText.sanitised(value.stringValue ?? value.text)
        }
    }
}
