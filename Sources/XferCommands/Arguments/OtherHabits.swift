import XferModel

/// Values by which users of curl and wget show that an option means something else there.
enum OtherHabits {
    /// The end of the message that there is no URL, if an option took it as its value, such as wget's `-b URL`.
    static func takenURL(_ values: [(option: String, value: String?)]) -> String {
        for (option, value) in values {
            guard let value, value.hasPrefix("http://") || value.hasPrefix("https://") else { continue }
            return " \(option) takes a value, and took \(SafeText.sanitised(Redaction.url(value)))."
        }
        return ""
    }

    /// The refusal of data in place of a directory, as of curl's `-d a=b`; nil for a directory.
    ///
    /// - Parameter exists: true if there is a directory of this name.
    static func dataAsDirectory(_ name: String?, exists: (String) -> Bool) -> String? {
        guard let name, !name.contains("/"), name.contains("=") || name.hasPrefix("{") || name.hasPrefix("@"),
            !exists(name)
        else { return nil }
        let text = SafeText.sanitised(name)
        return "-d names a directory, and \(text) looks like data: curl's -d DATA is --data DATA here. "
            + "If it is a directory, write -d ./\(text)"
    }

    /// The refusal of JSON among the URLs, as of curl's `--json DATA`; nil if there is none.
    static func dataAsURL(_ urls: [String]) -> String? {
        urls.contains { $0.hasPrefix("{") || $0.hasPrefix("[") || $0.hasPrefix("@") }
            ? "--json prints the answer as JSON; curl's --json DATA is --json-body DATA here." : nil
    }

    /// The refusal of a word that other programs take as the value of an option that is a flag here; nil if there is none.
    ///
    /// - Parameter flags: the options that are set.
    static func valueOfFlag(_ urls: [String], _ flags: [(option: String, isSet: Bool)]) -> String? {
        // A text with @ may contain a login, which is not repeated.
        guard urls.count > 1, let word = urls.first(where: { !$0.contains("://") && !$0.contains("@") }) else {
            return nil
        }
        // The word may be a login, too.
        if flags.contains(where: { $0.option == "--user" && $0.isSet }) { return "\(flagWithValue("--user"))." }
        let texts = flags.filter(\.isSet).compactMap { valuesElsewhere[$0.option] }
        guard !texts.isEmpty else { return nil }
        return "\"\(SafeText.sanitised(word))\" is no URL; \(texts.joined(separator: "; "))."
    }

    /// The refusal of a URL in place of a list's name, as of curl's `-i URL`; nil for a file.
    static func urlAsList(_ file: String?) -> String? {
        guard let file, file.hasPrefix("http://") || file.hasPrefix("https://") else { return nil }
        return "-i takes a file of URLs, and took \(SafeText.sanitised(Redaction.url(file))). curl's -i is "
            + "`xferctl show --json ID` after the end, which prints response_headers."
    }

    /// A message about a flag with a value, such as `--user=ada`. It does not repeat the value, which may be a login.
    static func flagWithValue(_ name: String) -> String { valuesElsewhere[name] ?? "\(name) takes no value" }

    private static let valuesElsewhere = [
        "--user": "--user takes no value: it chooses your own daemon; "
            + "a login is -u USER, which prompts for the password",
        "--wait": "--wait takes no value, and wget's --wait TIME is a limit of the host: "
            + "`xferctl limit --host HOST --requests-per-minute COUNT`",
        "--continue": "--continue takes no value: leave it out for a new file",
        "--json": "--json takes no value, and curl's --json DATA is --json-body DATA",
        "-c": "-c takes no value, and curl's -c FILE is --profile NAME, which keeps cookies",
        "-O": "-O takes no value, and wget's -O FILE is -o FILE",
        "-w": "-w takes no value, and curl's -w FORMAT is --json",
    ]

    /// A warning about a range or alternatives in a URL, which curl expands; nil if there are none.
    static func unexpandedURL(_ urls: [String]) -> String? {
        let range = #/\[[0-9]+-[0-9]+(:[0-9]+)?\]|\[[a-zA-Z]-[a-zA-Z]\]/#
        let alternatives = #/\{[^{}]*,[^{}]*\}/#
        for url in urls {
            if let found = url.firstMatch(of: range)?.output.0 {
                let shell = String(found.dropFirst().dropLast().prefix { $0 != ":" }).replacing("-", with: "..")
                return "warning: \(found) in a URL is sent unchanged; bash expands {\(shell)} outside quotes"
            }
            if let found = url.firstMatch(of: alternatives)?.output {
                return "warning: \(SafeText.sanitised(String(found))) in a URL is sent unchanged; bash expands it "
                    + "outside quotes"
            }
        }
        return nil
    }
}
