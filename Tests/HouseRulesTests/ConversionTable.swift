/// Integer conversions in `Sources` that trap when the number does not fit, and are right nevertheless.
///
/// A trap ends the daemon, so the rest is written `clamping:`, `exactly:`, `truncatingIfNeeded:`, `bitPattern:` or
/// `saturating:`, or with `radix:` where text is read. A row is a decision: say why the number always fits.
enum ConversionTable {
    struct Row: Hashable {
        /// Relative to the project.
        let path: String
        /// As the code has it, for example `Int64(facts.st_size)`.
        let code: String
        let reason: String
    }

    static let rows: [Row] = [
        // `clamping:` is a call for each byte in a debug build.
        Row(path: "Sources/XferModel/Base64.swift", code: "Int(source[from])", reason: "a byte"),
        Row(path: "Sources/XferModel/Base64.swift", code: "Int(source[from + 1])", reason: "a byte"),
        Row(path: "Sources/XferModel/Base64.swift", code: "Int(source[from + 2])", reason: "a byte"),
        Row(path: "Sources/XferModel/Base64.swift", code: "Int(value)", reason: "a byte"),
        Row(
            path: "Sources/XferFiles/Reading/FileStatus.swift", code: "UInt16(facts.st_mode & 0o7777)",
            reason: "masked to 12 bits"),
        Row(
            path: "Sources/XferFiles/Reading/FileStatus.swift", code: "Int64(facts.st_size)",
            reason: "off_t has 64 bits"),
        Row(
            path: "Sources/XferStore/Lists/TaskTable+History.swift", code: "Int64($0.offset)", reason: "Int has 64 bits"
        ),
    ]
}
