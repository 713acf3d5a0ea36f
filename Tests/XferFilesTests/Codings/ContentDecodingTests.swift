import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

@Suite struct ContentDecodingTests {
    private func decode(
        _ bytes: [UInt8], _ codings: [ContentCoding], inMemory: Int = 1 << 20, most: Int64 = 1 << 30,
        ratio: Int64 = 200, isCancelled: () -> Bool = { false }
    ) throws(ContentDecodingError) -> [UInt8] {
        let decoding = ContentDecoding(codings, limits: .init(inMemory: inMemory, bytes: most, ratio: ratio))
        switch try decoding.run(.bytes(bytes), into: -1, isCancelled: isCancelled) {
        case .bytes(let content): return content
        case .file: throw .malformed(.gzip)
        }
    }

    @Test(arguments: CodedText.all) func codedContentDecodesToItsText(_ coded: CodedText) throws {
        #expect(try decode(coded.bytes, [coded.coding]) == CodedText.text)
    }

    @Test func deflateWithoutItsHeaderIsDecoded() throws {
        #expect(try decode(CodedText.bareDeflate, [.deflate]) == CodedText.text)
    }

    @Test(arguments: CodedText.all) func aStreamThatEndsEarlyIsTruncated(_ coded: CodedText) {
        for count in 0..<coded.bytes.count {
            #expect(throws: ContentDecodingError.truncated(coded.coding), "after \(count) bytes") {
                try decode(Array(coded.bytes.prefix(count)), [coded.coding])
            }
        }
    }

    @Test(arguments: CodedText.all) func garbageUnderACodingIsMalformed(_ coded: CodedText) {
        let garbage = Array("this is neither of them, whatever the head says of it".utf8)
        #expect(throws: ContentDecodingError.self) { try decode(garbage, [coded.coding]) }
        #expect(throws: ContentDecodingError.malformed(coded.coding)) {
            try decode(coded.bytes + [0xff, 0, 1], [coded.coding])
        }
    }

    @Test func aGzipOfSeveralMembersIsOneContent() throws {
        let coded = CodedText.gzip.bytes
        #expect(try decode(coded + coded, [.gzip]) == CodedText.text + CodedText.text)
        #expect(throws: ContentDecodingError.truncated(.gzip)) { try decode(coded + coded.dropLast(), [.gzip]) }
    }

    @Test func codingsAreUndoneLastOneFirst() throws {
        let twice = Gzip.stored(CodedText.brotli.bytes)
        #expect(try decode(twice, [.brotli, .gzip]) == CodedText.text)
        #expect(throws: ContentDecodingError.self) { try decode(twice, [.gzip, .brotli]) }
    }

    @Test(arguments: CodedText.bombs) func aCompressionBombEndsAtTheRatio(_ bomb: CodedText) {
        #expect(
            throws: ContentDecodingError.tooDense(bomb.coding, ratio: 200, received: Int64(bomb.bytes.count))
        ) { try decode(bomb.bytes, [bomb.coding]) }
    }

    @Test func aCompressionBombEndsAtTheSize() {
        #expect(throws: ContentDecodingError.tooLarge(3 << 20)) {
            try decode(CodedText.brotliBomb.bytes, [.brotli], inMemory: 8 << 20, most: 3 << 20, ratio: 1 << 40)
        }
    }

    @Test func aNestedCompressionBombEndsAtTheInnerOne() {
        let bomb = Gzip.stored(CodedText.brotliBomb.bytes)
        #expect(throws: ContentDecodingError.self) { try decode(bomb, [.brotli, .gzip]) }
    }

    @Test func workIsDoneInSlices() {
        var slices = 0
        #expect(throws: ContentDecodingError.file(.cancelled)) {
            try decode(CodedText.brotliBomb.bytes, [.brotli], ratio: 1 << 40) {
                slices += 1
                return slices > 10
            }
        }
        #expect(slices == 11, "asked before the first slice and after each")
        #expect(ContentDecoding.slice <= 64 << 10)
    }

    @Test func aLargeContentIsDecodedIntoTheFile() throws {
        let directory = try TemporaryDirectory("xfer-codings")
        let spool = SpoolDirectory(try DirectoryHandle(ofService: directory.path))
        let (source, target) = (try spool.makeFile(), try spool.makeFile())
        let version = SourceVersion.tagged(9, length: 300_000)
        let coded = Gzip.stored(version.bytes)
        try source.write(coded)
        let decoding = ContentDecoding([.gzip], limits: .init(inMemory: 1000, bytes: 1 << 30, ratio: 200))
        let content = try decoding.run(
            .file(descriptor: source.descriptor, length: Int64(coded.count)), into: target.descriptor)
        #expect(content == .file(length: 300_000))
        #expect(try target.read(upTo: 400_000) == version.bytes)
    }

    @Test func decodingErrorsStateWhetherToRetry() {
        #expect(ContentDecodingError.truncated(.gzip).transferError(host: "h").isRetriable)
        for error in [
            ContentDecodingError.malformed(.zstd), .tooLarge(1), .tooDense(.brotli, ratio: 200, received: 9),
            .unknown(.zstd),
        ] { #expect(!error.transferError(host: "h").isRetriable) }
    }
}
