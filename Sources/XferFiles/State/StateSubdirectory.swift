import XferModel
import XferSystem

/// A directory in the state directory. If it is removed or renamed while the daemon runs, it is made again.
///
/// The files that were in it are lost; their readers find them missing.
public final class StateSubdirectory: Sendable {
    private let opened: Locked<DirectoryHandle>
    private let reopen: @Sendable () throws(FileError) -> DirectoryHandle
    private let isCurrent: @Sendable (DirectoryHandle) throws(FileError) -> Bool
    private let onRenewal: @Sendable (_ path: String) -> Void

    /// Makes the directory unless it exists, and opens it.
    ///
    /// - Parameter onRenewal: called with the path after the directory was made again.
    public init(
        _ name: String, in parent: StateDirectory, onRenewal: @escaping @Sendable (_ path: String) -> Void = { _ in }
    ) throws(FileError) {
        opened = Locked(try parent.subdirectory(name))
        reopen = { () throws(FileError) in try parent.subdirectory(name) }
        isCurrent = { (handle) throws(FileError) in try parent.directory.identity(of: name) == handle.identity }
        self.onRenewal = onRenewal
    }

    /// Creates a fixed directory, which is not made again when it is removed.
    public init(_ handle: DirectoryHandle) {
        opened = Locked(handle)
        reopen = { () throws(FileError) in throw .missing(path: handle.path) }
        isCurrent = { (_) throws(FileError) in true }
        onRenewal = { _ in }
    }

    /// The directory that was opened last. It may have been removed since.
    public var handle: DirectoryHandle { opened.withLock { $0 } }

    /// The directory, created again if it is missing.
    ///
    /// - Throws: the errors of `StateDirectory.subdirectory`.
    func current() throws(FileError) -> DirectoryHandle {
        let (found, isRenewed) = try opened.withLock { opened throws(FileError) -> (DirectoryHandle, Bool) in
            if try isCurrent(opened) { return (opened, false) }
            opened = try reopen()
            return (opened, true)
        }
        if isRenewed { onRenewal(found.path) }
        return found
    }

    /// The reason why files cannot be created in the directory, for operators; nil if the directory exists or could be
    /// made again just now.
    public var problem: String? {
        do throws(FileError) {
            _ = try current()
            return nil
        } catch {
            return "the directory \(handle.path) was removed and cannot be made again: \(error)"
        }
    }
}
