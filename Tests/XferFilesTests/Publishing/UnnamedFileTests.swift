import Glibc
import Testing
import XferModel

@testable import XferFiles

/// Files that get their names at once, and what a power cut leaves of them.
@Suite(.serialized, .enabled(if: canMountImages, "this process may not mount images"))
struct UnnamedFileTests {
    /// Without a journal, the link count is written with the file's inode alone.
    @Test(arguments: ["ext4 -O ^has_journal", "ext2", "ext4"])
    func linkedFilesWhoseNamesAreSyncedOutlastAPowerCut(kind: String) throws {
        let names = (0..<5).map { "file \($0)" }
        try withPowerCut(kind) { disk in
            let directory = try disk.handle()
            #expect(directory.traits.journalsLinks == (kind == "ext4"))
            let files = try names.map { name in
                try #require(
                    try UnnamedFile.create(in: directory, Array(name.utf8), mode: 0o644, modifiedAt: nil))
            }
            for file in files { try file.sync() }
            for (file, name) in zip(files, names) { #expect(try file.link(as: name) == .published) }
            try directory.sync(named: files)
        } later: { disk in
            for name in names {
                #expect(disk.read(name) == name)
                var facts = stat()
                #expect(stat(disk.at(name), &facts) == 0 && facts.st_nlink == 1 && facts.st_mode & 0o777 == 0o644)
            }
        }
    }

    @Test(.enabled(if: canMount)) func aFileSystemInMemoryNeedsNoSecondSync() throws {
        let journals = try withSmallFileSystem(size: "64k") { disk in try disk.handle().traits.journalsLinks }
        #expect(journals)
    }
}
