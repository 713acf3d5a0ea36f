import Glibc
public import XferModel

/// Partial files that no transfer owns any more, left over by a crash between making the file and recording it.
///
/// Looked for at start, before any transfer makes files.
public enum StrayFiles {
    /// Transfers whose partial files (`.xfer-<id>.part`, regular, owned by this process's uid) lie in a directory.
    public static func transfers(in directory: DirectoryHandle) throws(FileError) -> [TransferID] {
        var transfers: [TransferID] = []
        for name in try names(in: directory) {
            guard let id = transfer(ofPartialName: name), let status = try directory.status(of: name),
                status.kind == .regular, status.owner == geteuid()
            else { continue }
            transfers.append(id)
        }
        return transfers
    }

    /// Removes those that belong to no transfer and answers which.
    @discardableResult
    public static func remove(
        from directory: DirectoryHandle, unless isOwned: (TransferID) -> Bool
    ) throws(FileError) -> [TransferID] {
        var removed: [TransferID] = []
        for id in try transfers(in: directory) where !isOwned(id) {
            if try directory.remove(partialName(of: id)) { removed.append(id) }
        }
        return removed
    }

    /// Name of a transfer's partial file.
    static func partialName(of id: TransferID) -> String { ".xfer-\(id).part" }

    /// The transfer a name belongs to; nil unless `partialName(of:)` made it.
    static func transfer(ofPartialName name: String) -> TransferID? {
        guard name.hasPrefix(".xfer-"), name.hasSuffix(".part"),
            let number = Int64(name.dropFirst(6).dropLast(5)), partialName(of: TransferID(number)) == name
        else { return nil }
        return TransferID(number)
    }

    private static func names(in directory: DirectoryHandle) throws(FileError) -> [String] {
        // A descriptor of its own: a directory stream moves the offset and closes what it is given.
        let raw = try perform("list", on: directory.path) {
            openat(directory.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard let stream = fdopendir(raw) else {
            let code = errno
            close(raw)
            throw .system(operation: "list", path: directory.path, code: code)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            // By address: an entry may be shorter than the structure's 256 bytes of name.
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
            names.append(String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)))
        }
        if errno != 0 { throw .system(operation: "list", path: directory.path, code: errno) }
        return names
    }
}
