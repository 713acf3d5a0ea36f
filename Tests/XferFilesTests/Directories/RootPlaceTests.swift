import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

/// Whether a root is the bare mount point of a disk that is not mounted.
@Suite struct RootPlaceTests {
    private static func place(_ device: UInt64, _ inode: UInt64, _ mountPoint: String) -> RootPlace {
        RootPlace(identity: FileIdentity(device: device, inode: inode), mountPoint: mountPoint)
    }

    private static let remembered = place(40, 2, "/mnt/nas")

    @Test(
        arguments: [
            (remembered, false),
            // The bare mount point, on the file system of / or of /mnt, with the root or without.
            (place(8, 77, "/"), true), (place(8, 77, "/mnt"), true),
            (RootPlace(identity: nil, mountPoint: "/"), true),
            // Removed on the disk itself.
            (RootPlace(identity: nil, mountPoint: "/mnt/nas"), false),
            // Other numbers after a restart, or another place of the mount.
            (place(41, 2, "/mnt/nas"), false), (place(40, 9, "/"), false), (place(41, 2, "/"), false),
            // Another disk in its place, or further in.
            (place(50, 9, "/mnt/nas"), false), (place(50, 9, "/mnt/nas/downloads"), false),
            // A mount elsewhere does not lie beneath it.
            (place(50, 9, "/mnt/n"), false),
        ])
    func aRootIsHiddenIfItsFileSystemIsNotMounted(present: RootPlace, isHidden: Bool) {
        #expect(Self.remembered.isHidden(at: present) == isHidden)
    }

    @Test func aRootOnTheRootFileSystemIsNeverHidden() {
        let remembered = Self.place(8, 77, "/")
        for present in [
            Self.place(9, 1, "/"), Self.place(40, 2, "/mnt/nas"), RootPlace(identity: nil, mountPoint: "/"),
        ] {
            #expect(!remembered.isHidden(at: present))
        }
    }

    @Test func aRootThatIsALinkIsHiddenOnlyIfItLeadsToTheMissingFileSystem() throws {
        let base = try TemporaryDirectory("root-place")
        for name in ["disk", "elsewhere"] { #expect(mkdir(base.file(name), 0o755) == 0) }
        // It was used while a file system was mounted at disk.
        let remembered = Self.place(.max, .max, base.file("disk"))
        for (target, isHidden) in [("elsewhere", false), ("disk", true)] {
            #expect(symlink(base.file(target), base.file("root")) == 0)
            let present = try RootPlace.Present(ofRoot: base.file("root"))
            #expect(remembered.isHidden(at: present) == isHidden)
            #expect(unlink(base.file("root")) == 0)
        }
    }

    @Test func aPlaceIsReadAsItWasWritten() {
        for place in [
            Self.remembered, Self.place(.max, .max, "/a b/ c"), RootPlace(identity: nil, mountPoint: "/"),
        ] {
            #expect(RootPlace(text: place.text) == place)
        }
        for text in ["", "1 2", "x 2 /a", "1 2 a", "1  /a"] { #expect(RootPlace(text: text) == nil) }
    }

    @Test func theRootsOfAPathAreThoseInWhichItLies() {
        let roots = ["/mnt/nas/", "/mnt", "/mnt/na", "/"]
        #expect(RootPlace.roots(roots, containing: "/mnt//nas/x") == ["/mnt/nas/", "/mnt", "/"])
        #expect(RootPlace.roots(["/mnt/nas"], containing: "/mnt/nas") == ["/mnt/nas"])
    }

    @Test func onlyAMountWhosePathLiesInAnOuterMountIsMissing() throws {
        let base = try TemporaryDirectory("root-place")
        let missing = Self.place(41, 2, base.file("disk"))
        let (present, other) = (Self.place(41, 2, "/"), Self.place(41, 2, base.file("other")))
        let found = try RootPlace.mounts([missing, present, other], missingAt: base.file("disk/below"))
        #expect(found == [missing])
        #expect(try RootPlace.mounts([missing], missingAt: base.file("disks")).isEmpty)
    }
}
