import Glibc

/// The files of a directory and of those beneath it.
enum DirectoryFiles {
    /// The result of a count.
    struct Count: Hashable, Sendable {
        var files = 0
        /// False if a bound ended the count: there are at least as many files.
        var isComplete = true

        static func += (sum: inout Count, other: Count) {
            sum.files += other.files
            sum.isComplete = sum.isComplete && other.isComplete
        }
    }

    /// The highest number of names that a count reads: of more it would take minutes, and the memory of their
    /// directories.
    static let mostNames = 1_000_000
    /// The time after which a count ends, for directories on a slow network.
    static let longestTime = Duration.seconds(30)

    /// Counts regular files. Symbolic links are not followed, names that begin with a dot are left out, and directories
    /// that cannot be read count as empty.
    ///
    /// - Parameters:
    ///   - directory: a path that ends in a slash.
    ///   - isCounted: gets a file's path beneath the directory.
    static func count(
        beneath directory: String, mostNames: Int = mostNames, within limit: Duration = longestTime,
        where isCounted: (String) -> Bool
    ) -> Count {
        let deadline = Readiness.now.advanced(by: limit)
        var count = Count()
        var names = 0
        var open = [""]
        while let place = open.popLast() {
            guard let stream = opendir(directory + place) else { continue }
            defer { closedir(stream) }
            while let entry = readdir(stream) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard !name.hasPrefix(".") else { continue }
                guard names < mostNames, !names.isMultiple(of: 1000) || Readiness.now <= deadline else {
                    count.isComplete = false
                    return count
                }
                names += 1
                var status = stat()
                guard fstatat(dirfd(stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
                switch status.st_mode & S_IFMT {
                case S_IFDIR: open.append("\(place)\(name)/")
                case S_IFREG where isCounted(place + name): count.files += 1
                default: break
                }
            }
        }
        return count
    }
}
