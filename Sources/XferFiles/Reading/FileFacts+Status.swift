import CLinux
import Glibc
public import XferModel

extension FileFacts {
    init(_ facts: stat) {
        self.init(
            identity: FileIdentity(facts), length: Int64(facts.st_size), modifiedAt: facts.modificationNanoseconds,
            changedAt: facts.changeNanoseconds)
    }
}

extension stat {
    /// When content or status were last changed: see `FileTime`.
    fileprivate var changeNanoseconds: Int64 {
        FileTime.nanoseconds(seconds: st_ctim.tv_sec, nanoseconds: st_ctim.tv_nsec)
    }
}

extension PartialFile {
    /// What the open file is now.
    public func facts() throws(FileError) -> FileFacts {
        let handle = try handle()
        return FileFacts(try status(of: handle.raw, path: path))
    }
}
