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

    /// A warning about a range or alternatives in a URL, which curl expands; nil if there are none.
    static func unexpandedURL(_ urls: [String]) -> String? {
        let range = #/\[[0-9]+-[0-9]+(:[0-9]+)?\]|\[[a-zA-Z]-[a-zA-Z]\]/#
        let alternatives = #/\{[^{}]*,[^{}]*\}/#
        for url in urls {
            if let found = url.firstMatch(of: range)?.output.0 {
                let shell = String(found.dropFirst().dropLast().prefix { $0 != ":" }).replacing("-", with: "..")
                return "warning: \(found) in a URL is requested as it is; bash expands {\(shell)} outside quotes"
            }
            if let found = url.firstMatch(of: alternatives)?.output {
                return "warning: \(SafeText.sanitised(String(found))) in a URL is requested as it is; bash expands it "
                    + "outside quotes"
            }
        }
        return nil
    }
}
