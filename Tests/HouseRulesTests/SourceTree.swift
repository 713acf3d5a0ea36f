import Glibc

/// The project's own Swift files, found from where this one lies.
struct SourceTree {
    struct File {
        /// Relative to the project, for example `Sources/XferCore/Retry/RetryPolicy.swift`.
        let path: String
        let lines: [Substring]

        /// The target's directory name.
        var target: String { String(path.split(separator: "/")[1]) }
    }

    let root: String

    init(file: String = #filePath) { root = file.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } }

    /// Swift files below a directory of the project.
    func swiftFiles(in directory: String) throws -> [File] {
        try names(in: directory).flatMap { name -> [File] in
            let path = "\(directory)/\(name)"
            if isDirectory(path) { return try swiftFiles(in: path) }
            guard name.hasSuffix(".swift") else { return [] }
            let text = try contents(of: path)
            return [File(path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false))]
        }
    }

    /// Names in a directory of the project, sorted.
    func names(in directory: String) throws -> [String] {
        guard let handle = opendir("\(root)/\(directory)") else { throw UnreadableSource(path: directory) }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return lstat("\(root)/\(path)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// A text file of the project.
    func contents(of path: String) throws -> String {
        guard let file = fopen("\(root)/\(path)", "r") else { throw UnreadableSource(path: path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

struct UnreadableSource: Error {
    let path: String
}

/// One `import` line.
struct ImportLine: Hashable {
    let module: String

    /// Nil unless the line is an import declaration, with whatever attributes and access level.
    init?(_ line: Substring) {
        var words = line.split(separator: " ").map(String.init)
        while let first = words.first, first.hasPrefix("@") || Self.accessLevels.contains(first) { words.removeFirst() }
        guard words.first == "import", words.count >= 2 else { return nil }
        let name = Self.kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
        module = String(name.prefix { $0 != "." })
    }

    private static let accessLevels: Set<String> = ["public", "package", "internal", "fileprivate", "private"]
    private static let kinds: Set<String> = ["struct", "class", "enum", "protocol", "func", "let", "var", "typealias"]
}

extension Substring {
    /// True if the text occurs in it. `contains` compares characters, which takes half a minute for all sources.
    func holds(_ text: String) -> Bool {
        var (line, text) = (self, text)
        return line.withUTF8 { line in
            text.withUTF8 { text in
                guard var start = line.baseAddress, let sought = text.baseAddress else { return text.isEmpty }
                let end = start + line.count
                while end - start >= text.count, let found = memchr(start, Int32(sought.pointee), end - start) {
                    start = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
                    if end - start >= text.count, memcmp(start, sought, text.count) == 0 { return true }
                    start += 1
                }
                return false
            }
        }
    }
}
