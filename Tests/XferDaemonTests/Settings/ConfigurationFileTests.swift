import Glibc
import NIOConcurrencyHelpers
import Testing
import XferManager
import XferModel
import XferSystem
import XferTestSupport

@testable import XferDaemon

@Suite struct ConfigurationFileTests {
    private func instance(_ path: String, isNamed: Bool) throws -> InstancePaths {
        isNamed
            ? try InstancePaths(environment: ["HOME": "/h", "XFERD_CONFIG": path], uid: 1)
            : try InstancePaths(environment: ["HOME": "/h", "CONFIGURATION_DIRECTORY": path], uid: 1)
    }

    @Test func aConfigurationFileIsReadWhole() throws {
        let directory = try TemporaryDirectory()
        let text = String(repeating: "# é\n", count: 50_000)
        try write(text, to: directory.file("config.yaml"))
        #expect(try ConfigurationFile.read(instance(directory.path, isNamed: false))?.text == text)
        try write("queue: { max_active: 2 }", to: directory.file("config.yaml"))
        let loaded = try LoadedSettings.load(
            instance(directory.path, isNamed: false), flags: ["log.format": "json"],
            environment: ["XFERD_QUEUE_ORDER": "lifo"])
        #expect(loaded.settings.service.maxActive == 2)
        #expect(loaded.settings.service.order == .lifo)
        #expect(loaded.settings.log.format == .json)
    }

    @Test func aMissingFileIsIgnoredUnlessItWasNamed() throws {
        let directory = try TemporaryDirectory()
        #expect(try ConfigurationFile.read(instance(directory.path, isNamed: false)) == nil)
        let path = directory.file("named.yaml")
        let rejection = #expect(throws: SettingsRejection.self) {
            try ConfigurationFile.read(instance(path, isNamed: true))
        }
        #expect(rejection?.description == "\(path): cannot be opened: No such file or directory")
    }

    @Test func anUnreadableOrBinaryFileIsRefusedWithTheReason() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("config.yaml")
        func reason() throws -> String? {
            #expect(throws: SettingsRejection.self) { try ConfigurationFile.read(instance(path, isNamed: true)) }?
                .description
        }
        #expect(mkdir(path, 0o755) == 0)
        #expect(try reason() == "\(path): cannot be read: Is a directory")
        #expect(rmdir(path) == 0)
        try write(bytes: [0x61, 0xFF], to: path)
        #expect(try reason() == "\(path): not UTF-8")
        try write(bytes: [UInt8](repeating: 0x23, count: (1 << 20) + 1), to: path)
        #expect(try reason() == "\(path): longer than 1048576 bytes")
    }

    @Test func writingReplacingAndRemovingTheFileIsNoticed() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("config.yaml")
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        var iterator = changes.makeAsyncIterator()
        let watch = try ConfigurationWatch(path: path) { continuation.yield() }
        try write("a", to: path)
        #expect(await iterator.next() != nil)
        try write("b", to: directory.file("config.yaml.new"))
        #expect(rename(directory.file("config.yaml.new"), path) == 0)
        #expect(await iterator.next() != nil)
        #expect(unlink(path) == 0)
        #expect(await iterator.next() != nil)
        _ = consume watch
    }

    @Test func otherFilesOfTheDirectoryAreIgnored() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("config.yaml")
        // What the file held when each change was reported: a neighbour's would find none.
        let (seen, continuation) = AsyncStream.makeStream(of: Bool.self)
        let watch = try ConfigurationWatch(path: path) { continuation.yield(access(path, F_OK) == 0) }
        for index in 0..<50 { try write("x", to: directory.file("config.yaml.\(index)")) }
        try write("a", to: path)
        var iterator = seen.makeAsyncIterator()
        #expect(await iterator.next() == true)
        _ = consume watch
    }

    @Test func severalFilesAreWatchedEachInItsDirectory() async throws {
        let (one, other) = (try TemporaryDirectory(), try TemporaryDirectory())
        let wanted = [one.file("a.pem"), one.file("b.pem"), other.file("c.pem")]
        let (changes, continuation) = AsyncStream.makeStream(of: Int.self)
        var iterator = changes.makeAsyncIterator()
        let paths = Set(wanted + [one.file("missing/d.pem")])
        // How many of them exist when each change is reported.
        let watch = try ConfigurationWatch(paths: paths) {
            continuation.yield(wanted.count { access($0, F_OK) == 0 })
        }
        // Watched names, each in the wrong directory.
        try write("x", to: one.file("c.pem"))
        try write("x", to: other.file("a.pem"))
        for (count, path) in wanted.enumerated() {
            try write("x", to: path)
            // A file may be reported more than once.
            var seen = await iterator.next()
            while let number = seen, number == count { seen = await iterator.next() }
            #expect(seen == count + 1)
        }
        _ = consume watch
    }

    @Test func aMissingDirectoryIsNoticedWhenItIsMadeAndThenItsFile() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("config/xferd/config.yaml")
        for (missing, make) in [("config", true), ("config/xferd", true), ("config/xferd/config.yaml", false)] {
            let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
            var iterator = changes.makeAsyncIterator()
            let watch = try ConfigurationWatch(path: path) { continuation.yield() }
            #expect(watch.isIncomplete == make)
            if make { #expect(mkdir(directory.file(missing), 0o700) == 0) } else { try write("a", to: path) }
            #expect(await iterator.next() != nil)
            _ = consume watch
        }
    }

    @Test func theRemovalOfTheDirectoryIsNoticed() async throws {
        let directory = try TemporaryDirectory()
        let inner = try directory.makeDirectory("xferd")
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        var iterator = changes.makeAsyncIterator()
        let watch = try ConfigurationWatch(path: inner + "/config.yaml") { continuation.yield() }
        let isIncomplete = watch.isIncomplete
        #expect(!isIncomplete)
        #expect(rmdir(inner) == 0)
        #expect(await iterator.next() != nil)
        _ = consume watch
    }

    @Test func aLinkThatLeadsNowhereInTheWayEndsTheSearch() throws {
        let directory = try TemporaryDirectory()
        #expect(symlink("nowhere", directory.file("xferd")) == 0)
        let watch = try ConfigurationWatch(path: directory.file("xferd/config.yaml")) {}
        let isIncomplete = watch.isIncomplete
        #expect(isIncomplete)
        _ = consume watch
    }
}

/// Replaces a file's content in place.
func write(_ text: String, to path: String) throws { try write(bytes: Array(text.utf8), to: path) }

func write(bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var offset = 0
    while offset < bytes.count {
        let count = bytes[offset...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        try #require(count > 0)
        offset += count
    }
}
