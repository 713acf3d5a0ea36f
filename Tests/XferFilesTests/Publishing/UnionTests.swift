import Glibc
import Testing
import XferModel

@testable import XferFiles

/// overlayfs with layers on two file systems: a file's device is not that of its directory.
@Suite(.serialized, .enabled(if: canMountUnions, "this process may not mount unions"))
struct UnionTests {
    /// In a directory of the upper layer, and in one that only the lower one has.
    @Test(arguments: ["", "below"], [false, true])
    func aPartGetsItsNameAndIsKnownByIt(place: String, isReplacing: Bool) throws {
        try withUnion { union in
            let directory = try DirectoryHandle(ofService: place.isEmpty ? union.path : union.at(place))
            var (part, intent) = try makePart("part", "whole", in: directory, as: "file")
            let publisher = Publisher(directory: directory)
            try publisher.prepare(part, Publisher.Attributes(length: 5, mode: 0o644))
            intent.part = try part.facts()
            #expect(intent.part.identity.device != directory.identity.device)
            #expect(try publisher.rename("part", as: intent, isReplacing: isReplacing) == .published)
            try directory.sync()
            try publisher.requirePublished(intent)
            #expect(try publisher.settle(intent, partName: "part") == .named)
            try publisher.withdraw(intent, to: "part")
            #expect(try directory.exists("part") && !directory.exists("file"))
            #expect(try publisher.settle(intent, partName: "part") == .part)
        }
    }

    @Test func anotherFileIsNotTakenForThePart() throws {
        try withUnion { union in
            let directory = try union.handle()
            let (_, intent) = try makePart("part", "whole", in: directory, as: "file")
            rename(union.at("part"), union.at("elsewhere"))
            try union.write("part", "whole")
            #expect(throws: FileError.self) {
                try Publisher(directory: directory).rename("part", as: intent, isReplacing: false)
            }
            try union.write("file", "whole")
            #expect(throws: FileError.self) { try Publisher(directory: directory).requirePublished(intent) }
            try Publisher(directory: directory).removeName(intent)
            #expect(union.read("file") == "whole")
        }
    }

    @Test func aPublishedFileIsDeleted() throws {
        try withUnion { union in
            let directory = try union.handle()
            let (part, intent) = try makePart("part", "whole", in: directory, as: "file")
            let publisher = Publisher(directory: directory)
            #expect(try publisher.rename("part", as: intent, isReplacing: false) == .published)
            let facts = try part.facts()
            let published = PublishedFile(
                mark: facts.mark, length: facts.length, modifiedAt: facts.modifiedAt, version: "1")
            let digest = try FileDigest.compute(Array("whole".utf8), algorithm: .sha256)
            #expect(
                try directory.removePublished(published, named: "file", privateName: "private", digest: digest)
                    == .removed)
            #expect(try union.names() == ["below"])
        }
    }
}
