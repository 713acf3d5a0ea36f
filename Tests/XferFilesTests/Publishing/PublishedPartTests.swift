import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

/// Partial files that were published, and what a power cut leaves of them.
@Suite(.serialized, .enabled(if: canMountImages, "this process may not mount images"))
struct PublishedPartTests {
    @Test(arguments: ["ext2", "ext4"]) func aPublishedPartOutlastsAPowerCut(kind: String) throws {
        let text = String(repeating: "published ", count: 2000)
        try withPowerCut(kind) { disk in
            let directory = try disk.handle()
            let publisher = Publisher(directory: directory)
            let part = try PartialFile.create(in: directory, named: "part")
            try part.put(text)
            try publisher.prepare(part, Publisher.Attributes(length: Int64(text.utf8.count), mode: 0o640))
            let intent = PublishIntent(finalName: "file", part: try part.facts())
            #expect(try publisher.rename("part", as: intent, isReplacing: false) == .published)
            try directory.sync()
        } later: { disk in
            #expect(disk.read("file") == text)
            #expect(FileTree.mode(disk.at("file")) == 0o640)
        }
    }
}
