extension FileName {
    /// Validates a name that a client gave: it is accepted as it is or refused, never changed.
    ///
    /// - Throws: `invalidName` with the reason.
    public static func validateOutput(_ text: String) throws(FileError) -> String {
        if let problem = problem(with: text) { throw .invalidName(text, problem: problem) }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw .invalidName(text, problem: "it holds a control character")
        }
        if text.hasPrefix(".xfer-") {
            throw .invalidName(text, problem: "names starting with \".xfer-\" are the service's own")
        }
        return text
    }

    /// Why a text cannot be the name of a directory's entry; nil when it can.
    static func problem(with name: String) -> String? {
        if name.isEmpty { return "it is empty" }
        if name.utf8.last == UInt8(ascii: "/") { return "it names a directory, expected a file name" }
        if name.utf8.contains(UInt8(ascii: "/")) { return "it holds \"/\", expected a name without a directory" }
        if name == "." || name == ".." { return "it names a directory, expected a file name" }
        if name.utf8.contains(0) { return "it holds a NUL byte" }
        let count = name.utf8.count
        if count > maximumByteCount { return "it has \(count) bytes, expected at most \(maximumByteCount)" }
        return nil
    }
}
