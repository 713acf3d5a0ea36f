import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

/// Contents that are kept: in whole, out checked, and never half.
@Suite struct CacheDirectoryTests {
    private let test: TestDirectory
    private let cache: CacheDirectory
    private let bytes = SourceVersion.tagged(1, length: 300_001).bytes

    init() throws {
        test = try TestDirectory()
        cache = CacheDirectory(try test.handle())
    }

    /// An open, empty file beside the cache.
    private func file(_ body: (Int32) throws -> Void) throws {
        let directory = try TemporaryDirectory("target")
        let descriptor = open(directory.file("f"), O_RDWR | O_CREAT, 0o600)
        defer { close(descriptor) }
        try body(descriptor)
    }

    private func kept() throws -> CacheDirectory.Incoming {
        let incoming = try cache.add(bytes, key: [1, 2, 3])
        try incoming.keep()
        return incoming
    }

    @Test func storedBytesAreReadAndHandedOutUnchanged() throws {
        let kept = try kept()
        #expect(kept.length == Int64(bytes.count))
        #expect(try cache.read(kept.name, length: kept.length, digest: kept.digest) == bytes)
        try file { target in
            try cache.handOut(kept.name, length: kept.length, digest: kept.digest, to: target)
            var read = [UInt8](repeating: 0, count: bytes.count + 1)
            #expect(pread(target, &read, read.count, 0) == bytes.count)
            #expect(Array(read.dropLast()) == bytes)
            // The copy parts from what is kept when it is written.
            #expect(pwrite(target, [9], 1, 0) == 1)
            #expect(try cache.read(kept.name, length: kept.length, digest: kept.digest) == bytes)
            let second = try cache.add(from: target, length: 100, key: [1, 2, 3])
            #expect(second.length == 100 && second.name != kept.name)
            #expect(second.name.prefix(64) == kept.name.prefix(64))
        }
    }

    @Test func bytesThatAreNotKeptLeaveNoFile() throws {
        do {
            let incoming = try cache.add(bytes, key: [1])
            #expect(try cache.settledNames() == [])
            withExtendedLifetime(incoming) {}
        }
        #expect(try FileTree.entries(below: test.path) == [])
        try file { target in
            #expect(throws: FileError.self) { try cache.add(from: target, length: 5, key: [1]) }
            #expect(throws: FileError.cancelled) {
                try cache.add(from: target, length: 5, key: [1], isCancelled: { true })
            }
        }
        #expect(try FileTree.entries(below: test.path) == [])
    }

    @Test(arguments: 0..<4) func aDamagedCacheFileIsDetected(_ way: Int) throws {
        let kept = try kept()
        var damaged = bytes
        switch way {
        case 0: damaged[200_000] ^= 1
        case 1: damaged.removeLast()
        case 2: damaged.append(0)
        default: break
        }
        try FileTree.write(damaged, to: test.at(kept.name))
        if way == 3 { try cache.remove(kept.name) }
        func isDamage(_ error: any Error) -> Bool {
            if case FileError.damagedBlob? = error as? FileError { true } else { false }
        }
        #expect { try cache.read(kept.name, length: kept.length, digest: kept.digest) } throws: { isDamage($0) }
        try file { target in
            #expect {
                try cache.handOut(kept.name, length: kept.length, digest: kept.digest, to: target)
            } throws: { isDamage($0) }
        }
        #expect(try cache.holds(kept.name, length: kept.length) == (way == 0))
    }

    @Test func removingAFileDuringItsHandOutLosesNothing() throws {
        let kept = try kept()
        try file { target in
            var asked = 0
            try cache.handOut(kept.name, length: kept.length, digest: kept.digest, to: target) {
                asked += 1
                try? cache.remove(kept.name)
                return false
            }
            #expect(asked > 0)
        }
        #expect(try FileTree.entries(below: test.path) == [])
    }

    @Test(.enabled(if: canMount, "needs to mount")) func aFullDiskIsReportedAndLeavesNoFile() throws {
        try withSmallFileSystem(size: "128k") { small in
            let cache = CacheDirectory(try small.handle())
            #expect(throws: FileError.self) { try cache.add(bytes, key: [1]).keep() }
            #expect(try FileTree.entries(below: small.path) == [])
        }
    }
}
