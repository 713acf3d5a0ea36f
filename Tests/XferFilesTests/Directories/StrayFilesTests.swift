import Glibc
import Testing
import XferModel

@testable import XferFiles

@Suite("Stray partial files are found and removed")
struct StrayFilesTests {
    @Test("those without a transfer go, everything else stays")
    func removesStrays() throws {
        let base = try TestDirectory()
        let directory = try base.handle()
        let others = [
            ".xfer-x.part", ".xfer-.part", ".xfer-07.part", ".xfer-+7.part", ".xfer-7.part.bak", "xfer-7.part",
            ".xfer-99999999999999999999.part", "file",
        ]
        for name in others + [".xfer-7.part", ".xfer-8.part", ".xfer-9.part"] { try base.write(name, "") }
        try base.makeDirectory(".xfer-10.part")
        try base.link(".xfer-11.part", to: "file")
        #expect(try Set(StrayFiles.transfers(in: directory)) == [TransferID(7), TransferID(8), TransferID(9)])
        #expect(
            try StrayFiles.remove(from: directory) { $0 == TransferID(8) }.sorted() == [TransferID(7), TransferID(9)])
        let left = (others + [".xfer-8.part", ".xfer-10.part", ".xfer-11.part"]).sorted()
        #expect(try base.names() == left)
        #expect(try StrayFiles.remove(from: directory) { $0 == TransferID(8) } == [])
    }

    @Test("another user's are not ours", .enabled(if: isRoot, "only root may give files away"))
    func leavesOthers() throws {
        let base = try TestDirectory()
        try base.write(".xfer-7.part", "")
        chown(base.at(".xfer-7.part"), 65534, 65534)
        #expect(try StrayFiles.transfers(in: base.handle()) == [])
    }

    @Test("the names are those the model gives")
    func names() throws {
        let base = try TestDirectory()
        let location = PartialLocation(directory: base.path, identity: try base.handle().identity)
        for id in [1, 42, Int64.max].map(TransferID.init(_:)) {
            let transfer = Transfer(id: id, partial: location, createdAt: Timestamp(seconds: 0))
            #expect(StrayFiles.partialName(of: id) == transfer.partialName)
            #expect(StrayFiles.transfer(ofPartialName: transfer.partialName) == id)
        }
    }
}
