import Testing
import XferCore
import XferModel

@Suite struct ContentCodingTests {
    private func undone(_ applied: String..., asked: String?) -> [ContentCoding] {
        let head = ResponseHead(
            status: 200, fields: applied.map { HeaderField(name: "Content-Encoding", value: $0) })
        return ContentCoding.undone(
            of: head, sent: asked.map { [HeaderField(name: "accept-encoding", value: $0)] } ?? [])
    }

    @Test func aRequestedCodingIsDecoded() {
        #expect(undone("gzip", asked: "gzip") == [.gzip])
        #expect(undone("X-GZIP", asked: "br, GZIP;q=0.5") == [.gzip])
        #expect(undone("br", asked: "*") == [.brotli])
        #expect(undone("deflate, zstd", "identity", asked: "zstd, deflate") == [.deflate, .zstd])
    }

    @Test func anUnrequestedCodingIsKept() {
        #expect(undone("gzip", asked: nil) == [])
        #expect(undone("gzip", asked: "identity") == [])
        #expect(undone("gzip", asked: "gzip;q=0") == [])
        #expect(undone("gzip", asked: "*, gzip;q=0.000") == [])
        #expect(undone("gzip", asked: "br") == [])
    }

    @Test func severalCodingsAreDecodedTogetherOrNotAtAll() {
        #expect(undone("gzip, br", asked: "gzip") == [])
        #expect(undone("gzip, compress", asked: "gzip, compress") == [])
        #expect(undone("gzip, gzip, gzip, gzip", asked: "gzip") == [])
        #expect(undone("identity", asked: "gzip") == [])
    }
}
