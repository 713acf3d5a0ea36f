import Glibc
import Testing
import XferModel

@testable import XferFiles

@Suite struct PublishRecoveryTests {
    let base: TestDirectory
    let directory: DirectoryHandle
    let publisher: Publisher
    let intent: PublishIntent

    init() throws {
        base = try TestDirectory()
        directory = try base.handle()
        publisher = Publisher(directory: directory)
        let (part, intent) = try makePart("part", "whole", in: directory, as: "file")
        try publisher.prepare(part, Publisher.Attributes(length: 5, mode: 0o644))
        self.intent = intent
    }

    @Test func aPublishInterruptedBeforeTheRenameIsRepeated() throws {
        #expect(try publisher.settle(intent, partName: "part") == .part)
        #expect(try base.names() == ["part"])
    }

    @Test func aPublishWhoseNameWasTakenMeanwhileIsRepeatedUnderAnotherName() throws {
        try base.write("file", "foreign")
        #expect(try publisher.settle(intent, partName: "part") == .part)
        #expect(try publisher.rename("part", as: intent, isReplacing: false) == .nameTaken)
        #expect(base.read("file") == "foreign")
    }

    @Test(arguments: [false, true])
    func aPublishInterruptedAfterTheRenameIsDone(isReplacing: Bool) throws {
        if isReplacing { try base.write("file", "old") }
        #expect(try publisher.rename("part", as: intent, isReplacing: isReplacing) == .published)
        #expect(try publisher.settle(intent, partName: "part") == .named)
        #expect(try publisher.settle(intent, partName: "part") == .named)
        #expect(base.read("file") == "whole")
    }

    @Test func aPublishInterruptedBetweenLinkAndUnlinkIsDoneAndThePartRemoved() throws {
        #expect(link(base.at("part"), base.at("file")) == 0)
        #expect(try publisher.settle(intent, partName: "part") == .named)
        #expect(try base.names() == ["file"])
    }

    /// Without a journal the file is synced again, before its name.
    @Test func aPublishInterruptedAfterTheRenameIsDoneWithoutAJournal() throws {
        var traits = directory.traits
        traits.journalsLinks = false
        let poor = Publisher(directory: try base.handle(traits))
        #expect(try poor.rename("part", as: intent, isReplacing: false) == .published)
        #expect(try poor.settle(intent, partName: "part") == .named)
        #expect(try base.names() == ["file"])
    }

    @Test func aPublishWhoseFileWasRemovedIsLost() throws {
        #expect(try publisher.rename("part", as: intent, isReplacing: false) == .published)
        rename(base.at("file"), base.at("elsewhere"))
        #expect(try publisher.settle(intent, partName: "part") == .none)
    }

    @Test func aPublishWhoseNameOrPartWasReplacedIsLost() throws {
        #expect(try publisher.rename("part", as: intent, isReplacing: false) == .published)
        rename(base.at("file"), base.at("elsewhere"))
        try base.write("file", "whole")
        #expect(try publisher.settle(intent, partName: "part") == .none)
        try base.write("part", "whole")
        #expect(try publisher.settle(intent, partName: "part") == .none)
        #expect(try base.names() == ["elsewhere", "file", "part"])
    }

    @Test func aPublishedFileIsRecognisedUnderAnotherDeviceNumber() throws {
        var intent = intent
        let identity = intent.part.identity
        intent.part.mark.identity = FileIdentity(device: identity.device &+ 1, inode: identity.inode)
        #expect(try publisher.settle(intent, partName: "part") == .part)
        #expect(try publisher.rename("part", as: intent, isReplacing: false) == .published)
        #expect(try publisher.settle(intent, partName: "part") == .named)
    }

    /// Where files can neither be renamed without replacing nor linked, the crash comes between the placeholder and the
    /// rename.
    @Test func thePlaceholderOfAnInterruptedPublishIsRemovedAndAnotherFileIsNot() throws {
        let poor = Publisher(directory: try base.handle(lacking: [.exclusiveRename, .hardLinks]))
        for (text, isPlaceholder) in [("part", true), ("trap", false), ("par", false), ("", false)] {
            try base.write("file", text)
            #expect(try poor.settle(intent, partName: "part") == .part)
            #expect(base.read("file") == (isPlaceholder ? nil : text))
            if !isPlaceholder {
                #expect(try poor.rename("part", as: intent, isReplacing: false) == .nameTaken)
            }
        }
        try directory.remove("file")
        #expect(try poor.rename("part", as: intent, isReplacing: false) == .published)
        #expect(try poor.settle(intent, partName: "part") == .named)
        #expect(try base.names() == ["file"])
    }

    /// FUSE: the file gets another inode number with its name.
    @Test(arguments: [("whole", true, false, true), ("whole", false, false, false), ("wrong", true, true, false)])
    func aNamedFileWithAnotherInodeNumberIsDoneIfItsFactsAgreeAndNoDigestIsKnown(
        text: String, keepsTime: Bool, hasDigest: Bool, isDone: Bool
    ) throws {
        var traits = directory.traits
        traits.keepsInodeNumbers = false
        let unstable = try base.handle(traits)
        var facts = stat()
        #expect(stat(base.at("part"), &facts) == 0)
        try base.write("file", text)
        if keepsTime {
            let times = [facts.st_mtim, facts.st_mtim]
            #expect(utimensat(AT_FDCWD, base.at("file"), times, 0) == 0)
        }
        #expect(unlink(base.at("part")) == 0)
        var intent = intent
        if hasDigest { intent.digest = try FileDigest.compute(Array("whole".utf8), algorithm: .sha256) }
        let expected: Publisher.Traces = isDone ? .named : .none
        #expect(try Publisher(directory: unstable).settle(intent, partName: "part") == expected)
        #expect(base.read("file") == text)
        // On file systems that keep the numbers, it is another file.
        #expect(try publisher.settle(intent, partName: "part") == .none)
    }
}

extension Publisher.Traces {
    static let named = Self(isNamed: true, hasPart: false)
    static let part = Self(isNamed: false, hasPart: true)
    static let none = Self(isNamed: false, hasPart: false)
}

extension Publisher {
    /// Does what follows a crash: completes a publish, or undoes it. Returns what was found, without a second name.
    func settle(_ intent: PublishIntent, partName: String) throws -> Traces {
        var traces = try traces(of: intent, partName: partName)
        guard traces.isNamed else {
            try undo(intent, partName: partName)
            return traces
        }
        try finish(intent, partName: traces.hasPart ? partName : nil)
        traces.hasPart = false
        return traces
    }
}
