import Glibc
import XferModel

/// A list of downloads in aria2's input format.
///
/// One entry a line: a URL, or several of the same bytes with tabs between; quotes and `<…>` around a URL are removed.
/// Indented lines below it are its options, `name=value`. `#` begins a comment, in a line of its own or after white
/// space, and `;` in a line of its own. A line that cannot be read does not stop the others.
struct InputList: Hashable {
    /// Longest line taken, in bytes.
    static let maximumLine = 64 * 1024

    var entries: [Entry] = []
    /// Lines that are refused; they leave out the entry they belong to.
    var refused: [Remark] = []

    struct Entry: Hashable {
        let line: Int
        /// The first is the preferred one.
        let urls: [String]
        var options: [Option] = []
        /// The list of checksums that the line is in; nil for a list of URLs.
        var list: String?
        /// Remarks on the line, which is used.
        var warnings: [Remark] = []
    }

    struct Option: Hashable {
        let line: Int
        let name: String
        let value: String
    }

    /// A message about a line.
    struct Remark: Error, Hashable, CustomStringConvertible {
        /// The number of the line in the list; nil for a URL of the command line.
        let line: Int?
        let text: String

        var words: String { line.map { "line \($0): \(text)" } ?? text }

        /// The messages of remarks in the order of their first lines. Lines with the same remark share one message: a
        /// list may have an option below each URL.
        static func words(_ remarks: [Remark]) -> [String] {
            var counts: [String: Int] = [:]
            for remark in remarks { counts[remark.text, default: 0] += 1 }
            return remarks.compactMap { remark in
                guard let count = counts.removeValue(forKey: remark.text) else { return nil }
                guard count > 1, let line = remark.line else { return remark.words }
                return "line \(line) and \(count - 1) more: \(remark.text)"
            }
        }

        var description: String { words }
    }

    /// Reads a file, or standard input for `-`.
    static func read(_ path: String) throws(CommandFailure) -> InputList {
        let bytes = try FileText.bytes(path, option: "-i")
        let name = SafeText.sanitised(path == "-" ? "standard input" : path)
        guard !bytes.starts(with: [0xff, 0xfe]), !bytes.starts(with: [0xfe, 0xff]) else {
            throw .usage("-i: \(name) is UTF-16 text; UTF-8 is expected")
        }
        // Its lines are not worth a remark each: an image has thousands.
        guard !bytes.contains(0) else { throw .usage("-i: \(name) is not text, so it is not a list of URLs") }
        let list = InputList(bytes)
        guard !list.entries.isEmpty || !list.refused.isEmpty else { throw .usage("-i: \(name) contains no URL") }
        return list
    }

    /// Gives each entry without a digest that of a list. An entry that no list has is refused.
    mutating func demand(_ digests: [ChecksumList]) {
        var found: [Entry] = []
        for var entry in entries {
            let output = entry.options.last { $0.name == "out" }?.value
            if entry.options.contains(where: { $0.name == "checksum" }) {
                found.append(entry)
            } else if let digest = entry.urls.lazy.compactMap({ digests.checksum(for: $0, output: output) }).first {
                entry.options.append(Option(line: entry.line, name: "checksum", value: digest.description))
                found.append(entry)
            } else {
                let name = SafeText.sanitised(output ?? entry.urls.first.map(Redaction.url) ?? "this file")
                refused.append(Remark(line: entry.line, text: "\(digests.title) has no digest for \(name)"))
            }
        }
        entries = found
    }

    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
        var number = 0
        // Whether the entry above was refused, so that its options mean nothing.
        var isRefused = false
        for var line in rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            let isIndented = line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t")
            do throws(Remark) {
                try read(line, number, isIndented: isIndented, &isRefused)
            } catch {
                // An option that cannot be read may have been the one that the entry must not be added without.
                if isIndented, !isRefused { _ = entries.popLast() }
                isRefused = true
                refused.append(error)
            }
        }
    }

    private mutating func read(
        _ bytes: ArraySlice<UInt8>, _ number: Int, isIndented: Bool, _ isRefused: inout Bool
    ) throws(Remark) {
        guard bytes.count <= Self.maximumLine else {
            throw Remark(line: number, text: "longer than \(Self.maximumLine) bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Remark(line: number, text: "not UTF-8 text")
        }
        let line = text.trimmingBlanks
        guard !line.isEmpty, !line.hasPrefix("#"), !line.hasPrefix(";") else { return }
        if isIndented, !Self.isURL(PastedURL.bare(line.prefix { $0 != "\t" })[...]) {
            return try readOption(line, number, isRefused)
        }
        isRefused = false
        let urls = Self.withoutComment(line).split(separator: "\t").map { PastedURL.bare($0) }
        entries.append(Entry(line: number, urls: urls.filter { !$0.isEmpty }))
    }

    private mutating func readOption(_ line: Substring, _ number: Int, _ isRefused: Bool) throws(Remark) {
        guard !isRefused else { return }
        guard let last = entries.indices.last else {
            throw Remark(line: number, text: "an option needs a URL above it; a URL begins in the first column")
        }
        guard let equals = line.firstIndex(of: "=") else {
            throw Remark(line: number, text: "expected NAME=VALUE below a URL; a URL begins in the first column")
        }
        let name = line[..<equals].trimmingBlanks
        let value = line[line.index(after: equals)...].trimmingBlanks
        entries[last].options.append(Option(line: number, name: String(name), value: String(value)))
    }

    /// True if an indented line is a URL all the same: no option's name has `://` before its `=`.
    private static func isURL(_ line: Substring) -> Bool {
        guard let scheme = line.firstRange(of: "://") else { return false }
        return line[..<scheme.lowerBound].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// A fragment follows the URL without white space.
    private static func withoutComment(_ line: Substring) -> Substring {
        guard line.utf8.contains(UInt8(ascii: "#")) else { return line }
        var before: Character = " "
        for index in line.indices {
            if line[index] == "#", before == " " || before == "\t" { return line[..<index].trimmingBlanks }
            before = line[index]
        }
        return line
    }
}

extension StringProtocol {
    /// The text without blanks and tabs at both ends.
    var trimmingBlanks: SubSequence {
        let start = firstIndex { $0 != " " && $0 != "\t" } ?? endIndex
        let end = lastIndex { $0 != " " && $0 != "\t" }.map(index(after:)) ?? start
        return self[start..<end]
    }
}
