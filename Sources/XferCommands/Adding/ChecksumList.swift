import XferModel

/// A list of digests by file name, such as SHA256SUMS, in GNU's format (sha256sum(1), with its escapes) or BSD's
/// (`SHA256 (name) = HEX`), also in a clear-signed message.
struct ChecksumList: Hashable {
    struct Entry: Hashable {
        let line: Int
        /// A relative path without `..`.
        let name: String
        let checksum: Checksum

        /// True if the name begins or ends with a blank.
        fileprivate var hasOuterBlanks: Bool { name[...].trimmingBlanks.utf8.count < name.utf8.count }
    }

    private(set) var entries: [Entry] = []
    /// The refused lines; the other lines are used.
    private(set) var refused: [InputList.Remark] = []
    /// The list's file or URL, for messages.
    let title: String

    /// - Parameters:
    ///   - title: the list's file or URL.
    ///   - text: its content.
    init(_ text: String, title: String) {
        self.title = title
        var number = 0
        // CR LF is one character.
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
            number += 1
            // The signature ends the list; its headers, and comments, are no entries.
            if line.hasPrefix("-----BEGIN PGP SIGNATURE") { break }
            if line.isEmpty || line.hasPrefix("#") || line.hasPrefix("-----") || line.hasPrefix("Hash: ") { continue }
            do throws(InputList.Remark) {
                try add(try entry(line, number))
            } catch {
                refused.append(error)
            }
        }
    }

    // MARK: Lines

    private func entry(_ line: Substring, _ number: Int) throws(InputList.Remark) -> Entry {
        func refusal(_ text: String) -> InputList.Remark { InputList.Remark(line: number, text: "\(title): \(text)") }
        guard let (digest, name) = Self.tagged(line) ?? Self.plain(line) ?? alone(line) else {
            throw refusal("expected HEX  NAME or SHA256 (NAME) = HEX")
        }
        let path = name.hasPrefix("./") ? String(name.dropFirst(2)) : name
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard !path.hasPrefix("/"), !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
            throw refusal("\"\(SafeText.sanitised(name))\" is not the name of a file beneath one directory")
        }
        do throws(ChecksumSyntaxError) {
            return Entry(line: number, name: path, checksum: try Checksum(parsing: digest))
        } catch {
            throw refusal("\(error)")
        }
    }

    /// `SHA256 (name) = HEX`. The digest is returned with the algorithm that it names.
    private static func tagged(_ line: Substring) -> (digest: String, name: String)? {
        let isEscaped = line.hasPrefix("\\")
        let line = isEscaped ? line.dropFirst() : line
        guard let open = line.firstRange(of: " ("), let close = line.ranges(of: ") = ").last,
            open.upperBound <= close.lowerBound, !line[..<open.lowerBound].contains(" ")
        else { return nil }
        let name = line[open.upperBound..<close.lowerBound]
        let digest = "\(line[..<open.lowerBound]) (x) = \(line[close.upperBound...])"
        return (digest, isEscaped ? unescaped(name) : String(name))
    }

    /// `HEX  name`, or `HEX *name` for a file that was read as binary.
    private static func plain(_ line: Substring) -> (digest: String, name: String)? {
        let isEscaped = line.hasPrefix("\\")
        let line = isEscaped ? line.dropFirst() : line
        let digest = line.prefix { $0.isHexDigit }
        let rest = line[digest.endIndex...]
        guard digest.count >= 32, let blank = rest.first, " \t".contains(blank) else { return nil }
        // One mark follows the first blank: a blank, or a star for binary. What remains is the name, also if it begins
        // with one of them. Some programs write one blank without a mark.
        var name = rest.dropFirst()
        if let mark = name.first, " *\t".contains(mark) { name = name.dropFirst() }
        guard !name.trimmingBlanks.isEmpty else { return nil }
        return (String(digest), isEscaped ? unescaped(name) : String(name))
    }

    /// A digest alone, in a file named after the one it is for: `image.iso.sha256`.
    private func alone(_ line: Substring) -> (digest: String, name: String)? {
        let digest = line.trimmingBlanks
        guard entries.isEmpty, digest.count >= 32, digest.allSatisfy(\.isHexDigit),
            let file = title.prefix(while: { !"?#".contains($0) }).split(separator: "/").last,
            let dot = file.lastIndex(of: "."), dot != file.startIndex
        else { return nil }
        return (String(digest), String(file[..<dot]))
    }

    /// Removes GNU's escapes from a name in a line that begins with a backslash.
    private static func unescaped(_ name: Substring) -> String {
        var text = ""
        var rest = name
        while let character = rest.popFirst() {
            guard character == "\\", let next = rest.popFirst() else {
                text.append(character)
                continue
            }
            text += next == "n" ? "\n" : next == "r" ? "\r" : String(next)
        }
        return text
    }

    /// Adds an entry. If a file is listed with several algorithms, the longest digest counts; two digests of one length
    /// refuse both.
    private mutating func add(_ entry: Entry) throws(InputList.Remark) {
        guard let place = entries.firstIndex(where: { $0.name == entry.name }) else { return entries.append(entry) }
        let known = entries[place].checksum
        if known == entry.checksum { return }
        guard known.algorithm == entry.checksum.algorithm else {
            if known.algorithm.byteCount < entry.checksum.algorithm.byteCount { entries[place] = entry }
            return
        }
        entries.remove(at: place)
        throw InputList.Remark(
            line: entry.line, text: "\(title): \"\(SafeText.sanitised(entry.name))\" is listed with two digests")
    }

    // MARK: Use

    /// The digest of the file that a URL leads to, or that is named; nil if the list has none or several.
    ///
    /// - Parameter output: the name that the file gets; it counts if the URL's name is not listed.
    func checksum(for url: String, output: String? = nil) -> Checksum? {
        let path = TaskSearch.path(of: url)
        let named = output?.split(separator: "/").last.map(String.init)
        for wanted in [path, named].compactMap(\.self) {
            if let checksum = Self.checksum(for: wanted, among: entries) { return checksum }
            // Some programs align the names with blanks.
            let trimmed = entries.filter(\.hasOuterBlanks).map {
                Entry(line: $0.line, name: String($0.name[...].trimmingBlanks), checksum: $0.checksum)
            }
            if let checksum = Self.checksum(for: wanted, among: trimmed) { return checksum }
        }
        return nil
    }

    private static func checksum(for path: String, among entries: [Entry]) -> Checksum? {
        // The longest part of the path that is listed.
        let parts = path.split(separator: "/")
        for start in parts.indices {
            let name = parts[start...].joined(separator: "/")
            let same = Set(entries.lazy.filter { $0.name == name }.map(\.checksum))
            if let checksum = same.first { return same.count == 1 ? checksum : nil }
        }
        let last = parts.last.map(String.init) ?? path
        let ends = entries.filter { $0.name.split(separator: "/").last.map(String.init) == last }
        return ends.count == 1 ? ends[0].checksum : nil
    }

    /// All files of the list as entries of an input list.
    ///
    /// - Parameter bases: the URLs of the directory that the names are relative to: the first one, and its mirrors.
    func inputList(beneath bases: [String]) -> InputList {
        var list = InputList([])
        list.refused = refused
        let bases = bases.map { $0.hasSuffix("/") ? $0 : $0 + "/" }
        list.entries = entries.map { entry in
            let isOdd = entry.hasOuterBlanks
            let text = "\(title): the name begins or ends with a blank, which belongs to the file's name"
            return InputList.Entry(
                line: entry.line, urls: bases.map { $0 + Self.encoded(entry.name) },
                options: [
                    InputList.Option(line: entry.line, name: "out", value: entry.name),
                    InputList.Option(line: entry.line, name: "checksum", value: entry.checksum.description),
                ], list: title, warnings: isOdd ? [InputList.Remark(line: entry.line, text: text)] : [])
        }
        return list
    }

    /// A path as a URL has it (RFC 3986, `pchar`).
    static func encoded(_ path: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/".utf8)
        return path.utf8.reduce(into: "") { text, byte in
            if plain.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (byte < 16 ? "0" : "") + digits
            }
        }
    }
}

extension [ChecksumList] {
    /// The digest of the file that a URL leads to, by the first list that has it; see `ChecksumList.checksum`.
    func checksum(for url: String, output: String? = nil) -> Checksum? {
        lazy.compactMap { $0.checksum(for: url, output: output) }.first
    }

    /// The files or URLs of the lists, for messages.
    var title: String { map(\.title).joined(separator: ", ") }
}
