import Foundation
import Testing
import XferCore

/// Media types by extension.
@Suite struct FileMediaTypesTests {
    /// IANA's registry, and AFNetworking's type of property lists.
    @Test(arguments: [
        ("a.json", "application/json"), ("a.zip", "application/zip"), ("a.mp4", "video/mp4"), ("a.webp", "image/webp"),
        ("a.heic", "image/heic"), ("a.tar.gz", "application/gzip"), ("a.cer", "application/pkix-cert"),
        ("a.plist", "application/x-plist"), ("a.yaml", "application/yaml"), ("A.JPG", "image/jpeg"),
        ("a.b.PnG", "image/png"), (".svg", "image/svg+xml"),
    ])
    func aFileHasTheTypeOfItsExtension(name: String, type: String) {
        #expect(FileMediaTypes.type(ofFileNamed: name) == type)
    }

    @Test(arguments: ["", "a", "a.", "json", "a.unheard-of", "a.key", "a.ts"]) func otherFilesHaveNone(name: String) {
        #expect(FileMediaTypes.type(ofFileNamed: name) == nil)
    }

    /// The list of the system (package media-types) agrees, but for types that it has no longer or not yet right.
    @Test(.enabled(if: FileManager.default.isReadableFile(atPath: "/etc/mime.types"), "needs media-types"))
    func theTypesAreThoseOfTheSystem() throws {
        let better = ["key", "mid", "rss", "sh", "tgz", "ts"]
        var differing: [String] = []
        var agreeing = 0
        for line in try String(contentsOfFile: "/etc/mime.types", encoding: .utf8).split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }.map(String.init)
            for word in words.dropFirst() where !better.contains(word) && !word.contains(".") {
                guard let type = FileMediaTypes.type(ofFileNamed: "x.\(word)") else { continue }
                if type == words[0] { agreeing += 1 } else { differing.append("\(word): \(type), \(words[0])") }
            }
        }
        #expect(differing == [] && agreeing > 100)
    }
}
