import Testing
import XferCore
import XferModel

@testable import XferCurl

@Suite struct HeadParserTests {
    private func parse(_ lines: String...) -> ResponseHead? {
        var parser = HeadParser()
        var result: ResponseHead?
        for line in lines { result = feed(&parser, Array((line + "\r\n").utf8)) ?? result }
        return result
    }

    private func feed(_ parser: inout HeadParser, _ bytes: [UInt8]) -> ResponseHead? {
        guard case .head(let head) = bytes.withUnsafeBytes({ parser.onLine($0) }) else { return nil }
        return head
    }

    @Test func statusVersionAndFieldsAreRead() {
        let head = parse("HTTP/1.1 206 Partial Content", "ETag: \"a\" ", "X-Colon:a:b", "X-Empty:", "")
        #expect(head?.status == 206)
        #expect(head?.majorVersion == 1)
        #expect(
            head?.fields == [
                HeaderField(name: "ETag", value: "\"a\""), HeaderField(name: "X-Colon", value: "a:b"),
                HeaderField(name: "X-Empty", value: ""),
            ])
        #expect(parse("HTTP/2 200", "")?.majorVersion == 2)
    }

    /// libcurl takes it for a field; a head that restarted would have lost the fields before.
    @Test func aFieldNamedLikeAStatusLineIsAField() {
        let head = parse("HTTP/1.1 404 Not Found", "Content-Length: 0x5", "HTTP/x: 200", "HTTP/1.1 200 OK", "")
        #expect(head?.status == 404)
        #expect(head?.fields.map(\.name) == ["Content-Length", "HTTP/x"])
    }

    @Test func interimResponsesAreForgotten() {
        let head = parse("HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/1.1 200 OK", "A: b", "")
        #expect(head?.status == 200)
        #expect(head?.fields.map(\.name) == ["A"])
    }

    @Test func interimResponsesAreReportedWithoutUsingUpTheLimits() {
        var parser = HeadParser()
        var told = 0
        for number in 0..<HeadParser.maxInterim + 5 {
            _ = feed(&parser, Array("HTTP/1.1 \(number == 0 ? 100 : 104) X\r\n".utf8))
            _ = feed(&parser, Array("Upload-Offset: \(number)\r\n".utf8))
            let event = Array("\r\n".utf8).withUnsafeBytes { parser.onLine($0) }
            if case .informational(let head) = event {
                told += 1
                #expect(head.status == 104 && head.fields.count == 1)
            }
        }
        #expect(told == HeadParser.maxInterim - 1)
        _ = feed(&parser, Array("HTTP/1.1 200 OK\r\n".utf8))
        #expect(feed(&parser, Array("\r\n".utf8))?.status == 200)
    }

    @Test func foldedLinesAreOne() {
        #expect(parse("HTTP/1.1 200 OK", "A: b", "  c", "")?.value("A") == "b c")
    }

    @Test func trailersAreNotParsedAsAHead() {
        var parser = HeadParser()
        #expect(feed(&parser, Array("HTTP/1.1 200 OK\r\n".utf8)) == nil)
        #expect(feed(&parser, Array("\r\n".utf8)) != nil)
        #expect(feed(&parser, Array("ETag: \"b\"\r\n".utf8)) == nil)
        #expect(feed(&parser, Array("\r\n".utf8)) == nil)
    }

    @Test func bytesThatAreNotUTF8AreKeptDistinct() {
        var parser = HeadParser()
        _ = feed(&parser, Array("HTTP/1.1 200 OK\r\n".utf8))
        _ = feed(&parser, Array("ETag: \"".utf8) + [0xe9] + Array("\"\r\n".utf8))
        #expect(feed(&parser, Array("\r\n".utf8))?.etag == "\"\u{e9}\"")
    }

    @Test func aFoldedFramingFieldIsInvalid() {
        let head = parse("HTTP/1.1 200 OK", "Transfer-Encoding:", " chunked", "")
        guard case .invalid = head?.framing else {
            Issue.record("\(String(describing: head))")
            return
        }
    }

    @Test func aHeadBeyondItsLimitsIsRefused() {
        var parser = HeadParser()
        _ = feed(&parser, Array("HTTP/1.1 200 OK\r\n".utf8))
        let line = Array("A: b\r\n".utf8)
        var isTooLarge = false
        for number in 0...HeadParser.maxFields {
            #expect(!isTooLarge, "field \(number)")
            if case .tooManyFields = line.withUnsafeBytes({ parser.onLine($0) }) { isTooLarge = true }
        }
        #expect(isTooLarge)
    }
}
