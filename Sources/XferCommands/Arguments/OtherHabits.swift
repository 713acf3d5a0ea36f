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

    /// A warning about data in place of a directory, as of curl's `-d a=b`; nil for a directory.
    ///
    /// - Parameter exists: true if there is a directory of this name.
    static func dataAsDirectory(_ name: String?, exists: (String) -> Bool) -> String? {
        guard let name, !name.contains("/"), name.contains("=") || name.hasPrefix("{") || name.hasPrefix("@"),
            !exists(name)
        else { return nil }
        return "warning: -d names the directory \(SafeText.sanitised(name)); curl's -d DATA is --data DATA here"
    }
}
