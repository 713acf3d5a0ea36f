import FoundationEssentials
import Glibc
import XferModel
import XferTestSupport

@testable import XferFiles

/// A fresh directory that goes away with this object, with what tests of files do in one.
final class TestDirectory: Sendable {
    private let directory: TemporaryDirectory

    /// - Parameter parent: the file system to test on; that of all tests by default.
    init(in parent: String? = nil) throws { directory = try TemporaryDirectory("xfer-files", in: parent) }

    /// Absolute and free of links.
    var path: String { directory.path }

    func handle() throws -> DirectoryHandle { try DirectoryHandle(ofService: path) }

    /// As on a file system that lacks these features.
    func handle(lacking features: Set<FileSystemTraits.Feature>) throws -> DirectoryHandle {
        var traits = try handle().traits
        traits.lacking.formUnion(features)
        return try handle(traits)
    }

    /// As on a file system with these traits.
    func handle(_ traits: FileSystemTraits) throws -> DirectoryHandle {
        switch openDescriptor(path, flags: O_RDONLY | O_DIRECTORY) {
        case .value(let handle): return try DirectoryHandle(path: path, handle: handle, traits: traits)
        case .failure(let code): throw FileError.system(operation: "open", path: path, code: code)
        }
    }

    func at(_ relative: String) -> String { "\(path)/\(relative)" }

    /// Makes a directory and what is missing above it; its absolute path.
    @discardableResult
    func makeDirectory(_ relative: String) throws -> String {
        try FileManager.default.createDirectory(atPath: at(relative), withIntermediateDirectories: true)
        return at(relative)
    }

    func link(_ relative: String, to target: String) throws {
        guard symlink(target, at(relative)) == 0 else {
            throw FileError.system(operation: "link", path: at(relative), code: errno)
        }
    }

    func write(_ relative: String, _ text: String) throws { try FileTree.write(text, to: at(relative)) }

    /// Content of a file as text; nil when there is none.
    func read(_ relative: String) -> String? {
        FileManager.default.contents(atPath: at(relative)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// All names in it, sorted.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}

extension PartialFile {
    /// Writes a text at an offset as the engine would.
    func put(_ text: String, at offset: Int = 0) throws {
        let bytes = Array(text.utf8)
        guard pwrite(descriptor, bytes, bytes.count, offset) == bytes.count else {
            throw FileError.system(operation: "write", path: path, code: errno)
        }
    }
}

/// A part with some text and the intent to publish it.
func makePart(
    _ name: String, _ text: String, in directory: DirectoryHandle, as finalName: String
) throws -> (part: PartialFile, intent: PublishIntent) {
    let part = try PartialFile.create(in: directory, named: name)
    try part.put(text)
    return (part, PublishIntent(finalName: finalName, part: try part.facts()))
}
