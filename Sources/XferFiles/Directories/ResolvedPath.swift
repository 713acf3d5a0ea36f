import Glibc

/// An absolute path, split into the part that exists and the part that does not. `existing` has no links and no `..`.
/// `missing` are the remaining components, unresolved.
struct ResolvedPath {
    /// The given path without doubled and trailing slashes and without `.`.
    let asked: String
    let existing: String
    let missing: [String]
    /// The reason why the rest could not be resolved; nil if it does not exist. Throw it only after a check of the
    /// roots, so that the error gives a client no information about files outside them.
    let problem: FileError?

    init(_ path: String) throws(FileError) {
        guard !path.utf8.contains(0) else { throw .containsNUL(path: path) }
        guard path.hasPrefix("/") else { throw .notAbsolute(path: path) }
        asked = Self.tidy(path)
        var components = Self.components(asked)
        var missing: [String] = []
        var problem: FileError?
        while true {
            let prefix = "/" + components.joined(separator: "/")
            switch Self.resolve(prefix) {
            case .value(let real):
                (existing, self.missing, self.problem) = (real, missing.reversed(), problem)
                return
            case .failure(let code):
                problem = problem ?? Self.problem(code, path)
                guard let last = components.popLast() else { throw .missing(path: path) }
                missing.append(last)
            }
        }
    }

    /// The whole path: `existing` followed by `missing`.
    var whole: String { missing.reduce(existing, Self.join) }

    /// The result of realpath(3); nil if the path cannot be resolved.
    static func real(_ path: String) -> String? {
        guard path.hasPrefix("/"), !path.utf8.contains(0), case .value(let real) = resolve(path) else { return nil }
        return real
    }

    /// The path without doubled and trailing slashes and without `.`.
    static func tidy(_ path: String) -> String { "/" + components(path).joined(separator: "/") }

    /// True if `path` is `directory` or below it. Both are results of `tidy` or `real`.
    static func isWithin(_ path: String, _ directory: String) -> Bool {
        directory == "/" || path.utf8.elementsEqual(directory.utf8) || path.utf8.starts(with: "\(directory)/".utf8)
    }

    /// The path relative to `directory`, which has to contain `path`; `.` for the directory itself.
    static func relative(_ path: String, to directory: String) -> String {
        let rest = Self.components(String(decoding: path.utf8.dropFirst(directory.utf8.count), as: UTF8.self))
        return rest.isEmpty ? "." : rest.joined(separator: "/")
    }

    static func join(_ directory: String, _ name: String) -> String {
        directory == "/" ? "/\(name)" : "\(directory)/\(name)"
    }

    static func components(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }.filter { $0 != "." }
    }

    private static func problem(_ code: Int32, _ path: String) -> FileError? {
        switch code {
        case ENOENT: nil
        case ENOTDIR: .notADirectory(path: path)
        case EACCES: .notWritable(path: path, code: code)
        default: .system(operation: "resolve", path: path, code: code)
        }
    }

    private static func resolve(_ path: String) -> SystemCallResult<String> {
        guard let real = realpath(path, nil) else { return .failure(errno) }
        defer { free(real) }
        return .value(String(cString: real))
    }
}
