import Glibc

/// The files of a directory and of those beneath it.
enum DirectoryFiles {
    /// Counts regular files. Symbolic links are not followed, names that begin with a dot are left out, and directories
    /// that cannot be read count as empty.
    ///
    /// - Parameters:
    ///   - directory: a path that ends in a slash.
    ///   - isCounted: gets a file's path beneath the directory.
    static func count(beneath directory: String, where isCounted: (String) -> Bool) -> Int {
        var count = 0
        var open = [""]
        while let place = open.popLast() {
            guard let stream = opendir(directory + place) else { continue }
            defer { closedir(stream) }
            while let entry = readdir(stream) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard !name.hasPrefix(".") else { continue }
                var status = stat()
                guard fstatat(dirfd(stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
                switch status.st_mode & S_IFMT {
                case S_IFDIR: open.append("\(place)\(name)/")
                case S_IFREG where isCounted(place + name): count += 1
                default: break
                }
            }
        }
        return count
    }
}
