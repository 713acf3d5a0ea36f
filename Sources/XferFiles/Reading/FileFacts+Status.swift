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
    /// When content or status were last changed, in nanoseconds since 1970.
    fileprivate var changeNanoseconds: Int64 {
        let (nanoseconds, overflow) = Int64(st_ctim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? 0 : nanoseconds &+ Int64(st_ctim.tv_nsec)
    }
}

extension PartialFile {
    /// What the open file is now.
    public func facts() throws(FileError) -> FileFacts {
        let handle = try handle()
        return FileFacts(try status(of: handle.raw, path: path))
    }
}
