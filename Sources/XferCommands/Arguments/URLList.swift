import Glibc

/// A list of URLs in a file: one per line, blank lines and lines that begin with `#` are skipped.
enum URLList {
    /// Longest line taken, in bytes.
    static let maximumLine = 64 * 1024

    /// A URL and the line it stands in, from 1.
    struct Entry: Hashable {
        let line: Int
        let url: String
    }

    /// Reads a file, or standard input for `-`.
    static func read(_ path: String) throws(CommandFailure) -> [String] { try entries(path).map(\.url) }

    /// As above, with the lines' numbers.
    static func entries(_ path: String) throws(CommandFailure) -> [Entry] {
        try parse(FileText.read(path, option: "-i"), name: path == "-" ? "standard input" : path)
    }

    static func parse(_ text: String, name: String) throws(CommandFailure) -> [Entry] {
        var urls: [Entry] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard line.utf8.count <= maximumLine else {
                throw .usage("-i: line \(index + 1) of \(SafeText.sanitised(name)) is longer than \(maximumLine) bytes")
            }
            let trimmed = line.trimmingBlanks
            if !trimmed.isEmpty && !trimmed.hasPrefix("#") {
                urls.append(Entry(line: index + 1, url: String(trimmed)))
            }
        }
        guard !urls.isEmpty else { throw .usage("-i: \(SafeText.sanitised(name)) holds no URL") }
        return urls
    }
}

extension StringProtocol {
    /// Without blanks and tabs at both ends.
    var trimmingBlanks: SubSequence {
        let start = firstIndex { $0 != " " && $0 != "\t" } ?? endIndex
        let end = lastIndex { $0 != " " && $0 != "\t" }.map(index(after:)) ?? start
        return self[start..<end]
    }
}
