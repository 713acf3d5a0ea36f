import CLinux
import Glibc
import XferModel

/// Renames a file without replacing another one, on every file system.
extension DirectoryHandle {
    /// Changes the name of a file atomically, unless another file has the new name: then the result is false.
    ///
    /// File systems differ in their features. The methods are tried in this order, except those known to be missing:
    ///
    /// 1. a rename that replaces nothing;
    /// 2. a second name, then the first one is removed;
    /// 3. a placeholder with the new name, which must not exist before (`O_EXCL`), and which the file then replaces.
    ///    Its content is the old name, so that it is recognised after a crash (`removePlaceholder`).
    ///
    /// - Returns: the error number of the last method if none succeeds. ENOENT: there is no file of the old name.
    func renameKeeping(_ name: String, to other: String) -> SystemCallResult<Bool> {
        var found: [FileSystemTraits.Feature] = []
        if !traits.lacking.contains(.exclusiveRename) {
            switch retryingInterrupts({ xfer_rename_noreplace(descriptor, name, other) }) {
            case .value: return .value(true)
            case .failure(EEXIST): return .value(false)
            // EINVAL: this file system does not know RENAME_NOREPLACE (rename(2)), or refuses the name.
            case .failure(let code) where [EINVAL, ENOSYS, EOPNOTSUPP].contains(code): found.append(.exclusiveRename)
            case .failure(let code): return .failure(code)
            }
        }
        if !traits.lacking.contains(.hardLinks) {
            switch linkThenUnlink(name, other) {
            case .value(let isRenamed):
                learn(lacking: found)
                return .value(isRenamed)
            // EPERM: the file system has no links (link(2)); EMLINK: one more than it allows.
            case .failure(let code) where [EPERM, EOPNOTSUPP, ENOSYS].contains(code): found.append(.hardLinks)
            case .failure(let code) where [EMLINK, EINVAL].contains(code): break
            case .failure(let code): return .failure(code)
            }
        }
        let result = replacePlaceholder(name, other)
        if case .value = result { learn(lacking: found) }
        return result
    }

    func linkThenUnlink(_ name: String, _ other: String) -> SystemCallResult<Bool> {
        switch retryingInterrupts({ linkat(descriptor, name, descriptor, other, 0) }) {
        case .value: break
        case .failure(EEXIST): return .value(false)
        case .failure(let code): return .failure(code)
        }
        switch retryingInterrupts({ unlinkat(descriptor, name, 0) }) {
        case .value, .failure(ENOENT): return .value(true)
        case .failure(let code): return .failure(code)
        }
    }

    func replacePlaceholder(_ name: String, _ other: String) -> SystemCallResult<Bool> {
        switch makePlaceholder(other, for: name) {
        case .value: break
        case .failure(EEXIST): return .value(false)
        case .failure(let code): return .failure(code)
        }
        switch retryingInterrupts({ renameat(descriptor, name, descriptor, other) }) {
        case .value: return .value(true)
        case .failure(let code):
            // Another program may have given the name to a file of its own meanwhile.
            try? removePlaceholder(other, for: name)
            // The new name was free, so no other file has it.
            return .failure(code == EEXIST ? EINVAL : code)
        }
    }

    private func makePlaceholder(_ name: String, for replacing: String) -> SystemCallResult<Void> {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        switch openDescriptor(at: descriptor, name, flags: flags, mode: 0o600) {
        case .value(let handle):
            do throws(FileError) {
                try writeAll(Array(replacing.utf8), to: handle, path: path(of: name))
                // After a power cut, an empty file would not be known as a placeholder.
                _ = fsync(handle.raw)
                return .value(())
            } catch {
                _ = unlinkat(descriptor, name, 0)
                guard case .system(_, _, let code) = error else { return .failure(EIO) }
                return .failure(code)
            }
        case .failure(let code): return .failure(code)
        }
    }

    /// Removes the placeholder that a crash has left under a name while a file waits to replace it. Does nothing if
    /// another file has the name.
    ///
    /// - Parameter waiting: the present name of that file.
    func removePlaceholder(_ name: String, for waiting: String) throws(FileError) {
        let expected = Array(waiting.utf8)
        guard let found = try status(of: name), found.kind == .regular, found.length == Int64(expected.count),
            case .value(let handle) = openDescriptor(
                at: descriptor, name, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        else { return }
        var content = [UInt8](repeating: 0, count: expected.count)
        guard case .value(expected.count) = retryingInterrupts({ pread(handle.raw, &content, expected.count, 0) }),
            content == expected
        else { return }
        try remove(name)
    }
}
