import CLinux
import Glibc
import XferModel

/// A service that runs as root publishes on behalf of users, and gives them what it published. Until then a file is the
/// service's: no other user can write to what is being received, staged or handed out.
///
/// Always by a descriptor of that very file, never by its name, which may lead to another one by now.
extension PartialFile {
    /// Gives the file to the user for whom its directory was opened. Call it once the file has its final name.
    ///
    /// The owner stays as it is on a file system without owners, or where root may not change them.
    public func handOver() {
        guard let heir = directory.heir, let handle = try? handle() else { return }
        give(handle, to: heir)
    }
}

extension Publisher {
    /// As `PartialFile.handOver`, of a file that a former process published.
    func handOver(_ intent: PublishIntent) {
        guard let heir = directory.heir,
            case .value(let handle) = openDescriptor(
                at: directory.descriptor, intent.finalName, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY),
            let facts = try? status(of: handle.raw, path: directory.path)
        else { return }
        // Another user may have added a second name.
        guard facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid(), facts.st_nlink == 1,
            FileIdentity(facts) == intent.part.identity
        else { return }
        give(handle, to: heir)
    }
}

private func give(_ handle: Descriptor, to heir: FileUser) {
    var facts = stat()
    guard fstat(handle.raw, &facts) == 0 else { return }
    // A group that was set by a directory's set-group-id bit stays.
    let keepsGroup = heir.gid == nil || facts.st_gid != getegid()
    guard fchown(handle.raw, heir.uid, keepsGroup ? gid_t.max : heir.gid ?? gid_t.max) == 0 else { return }
    _ = fsync(handle.raw)
}
