import XferModel
import XferProtocol

/// The refusal of a destination outside the allowed directories, with the file, the key and the line that allow it.
struct RootsAdvice {
    /// The directory that is refused.
    let refused: String
    let roots: [String]
    /// The configuration file; nil if there is none.
    let file: String?
    /// The names of users as the file has them.
    var grants = RootGrants()

    private var refusal: String {
        "\(quoted(refused)) is outside the allowed directories (\(roots.map(quoted).joined(separator: ", ")))"
            + ", or a symbolic link in it leads out of them"
    }

    private var place: String { file.map { " in \($0)" } ?? "" }

    private var list: String { "[" + (roots + [refused]).map(quoted).joined(separator: ", ") + "]" }

    /// The text for callers who may change the configuration.
    var ofOperator: String {
        "\(refusal)\(nearer); to allow it, write\(place): download: { roots: \(list) }"
    }

    /// The way that needs no change of the configuration.
    private var nearer: String {
        roots.isEmpty ? "" : "; choose one beneath these with -d (-o alone is relative to the current directory)"
    }

    /// The text for callers whose roots the operator grants. They have an entry, perhaps by name or that of a group.
    func ofGuest(_ owner: Owner) -> String {
        refusal + nearer
            + "; an operator can allow it\(place), in the entry of user \(grants.name(of: owner)), or of a group, beneath "
            + "access: roots: \(list)"
    }

    /// The text about an owner to whom no operator has granted a directory.
    func ofUnlisted(_ owner: Owner) -> String {
        "user \(grants.name(of: owner)) has no directory under access.users, nor by a group; an operator can allow it\(place): "
            + "access: { users: { NAME: { roots: \(list) } } }, with the user's name"
    }

    /// The text for callers with a guest's token: its directory has to lie beneath the guest's roots.
    func ofGuestsToken(_ owner: Owner) -> String {
        "\(refusal); an operator can make a token for a directory beneath these: xferctl token add NAME "
            + "--owner \(grants.name(of: owner)) --dir DIR"
    }

    /// The text for callers with an operator's token that does not have the scope `operate`: the operators' roots count,
    /// and the token's directory, which alone is allowed now.
    func ofOperatorsToken(beneath directory: String) -> String {
        "\(quoted(refused)) is outside the allowed directories of the token (\(quoted(directory))); an operator can "
            + "allow it\(place): download: { roots: \(list) }, and then make a token for it: "
            + "xferctl token add NAME --dir \(quoted(refused))"
    }

    /// The text in YAML's double quotes. Control characters do not reach the terminal.
    private func quoted(_ path: String) -> String {
        var text = "\""
        for scalar in path.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\" + String(scalar)
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                let digits = String(scalar.value, radix: 16)
                text += "\\x" + String(repeating: "0", count: 2 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
