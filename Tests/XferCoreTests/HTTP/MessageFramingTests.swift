import Testing
import XferCore
import XferModel

@Suite struct MessageFramingTests {
    private func framing(_ fields: [(String, String)], status: Int = 200, version: Int = 1) -> MessageFraming {
        ResponseHead(
            status: status, majorVersion: version, fields: fields.map { HeaderField(name: $0.0, value: $0.1) }
        ).framing
    }

    private func isInvalid(_ framing: MessageFraming) -> Bool {
        if case .invalid = framing { true } else { false }
    }

    @Test func validFieldsFrameTheMessage() {
        #expect(framing([]) == .untilClose)
        #expect(framing([("content-length", "5")]) == .length(5))
        #expect(framing([("Content-Length", "1152921504606846976")]) == .length(1 << 60))
        #expect(framing([("Transfer-Encoding", "Chunked")]) == .chunked)
        #expect(framing([("Transfer-Encoding", " , chunked ,")]) == .chunked)
    }

    @Test func equalLengthsCountAsOne() {
        #expect(framing([("Content-Length", "5, 5")]) == .length(5))
        #expect(framing([("Content-Length", "5"), ("Content-Length", "5")]) == .length(5))
    }

    @Test(arguments: [
        "5, 6", "5 5", "0x5", "1152921504606846977", "9223372036854775807", "9223372036854775808",
        "18446744073709551616", "-5", "+5", "", "5,", ",5", "5.0", "five",
        "5;q=1", "٥", "5\u{FFFD}6",
    ]) func anInvalidLengthDoesNotCountAsAbsent(_ text: String) {
        #expect(isInvalid(framing([("Content-Length", text)])))
        #expect(
            ResponseHead(status: 200, fields: [HeaderField(name: "Content-Length", value: text)]).contentLength == nil)
    }

    @Test func lengthsThatDifferAreInvalid() {
        #expect(isInvalid(framing([("Content-Length", "6"), ("Content-Length", "5")])))
        #expect(isInvalid(framing([("Content-Length", "5"), ("Content-Length", "")])))
    }

    @Test(arguments: [
        "xchunked", "gzip", "chunked, gzip", "gzip, chunked", "chunked, chunked", "", "chunked;x=1",
        "identity, chunked", "chunked, identity", "identity;x=1",
    ])
    func anUnrequestedTransferCodingIsInvalid(_ text: String) {
        #expect(isInvalid(framing([("Transfer-Encoding", text)])))
    }

    /// RFC 2616 §4.4: a field with any other value than "identity" gives the transfer-length.
    @Test(arguments: ["identity", "Identity", " , identity ,", "identity, identity"])
    func aTransferCodingOfIdentityCountsAsAbsent(_ text: String) {
        #expect(framing([("Transfer-Encoding", text)]) == .untilClose)
        #expect(framing([("Transfer-Encoding", text), ("Content-Length", "5")]) == .length(5))
        #expect(isInvalid(framing([("Transfer-Encoding", text), ("Content-Length", "5, 6")])))
        #expect(isInvalid(framing([("Transfer-Encoding", text), ("Content-Length", "5")], version: 2)))
    }

    @Test func aTransferCodingBesideALengthIsInvalid() {
        #expect(isInvalid(framing([("Transfer-Encoding", "chunked"), ("Content-Length", "5")])))
        #expect(isInvalid(framing([("Content-Length", "5"), ("Transfer-Encoding", "chunked")])))
        #expect(isInvalid(framing([("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")])))
        #expect(isInvalid(framing([("Transfer-Encoding", "chunked")], version: 2)))
    }

    @Test(arguments: ["Content-Length ", " Content-Length", "Transfer-Encoding\t"])
    func whiteSpaceBesideAFramingFieldsNameIsInvalid(_ name: String) {
        #expect(isInvalid(framing([(name, name.contains("Length") ? "5" : "chunked")])))
    }

    @Test func responsesThatNeverHaveContentAreNotJudged() {
        #expect(framing([("Content-Length", "x")], status: 204) == .length(0))
        #expect(framing([("Content-Length", "x")], status: 304) == .length(0))
    }

    @Test func similarFieldNamesDoNotFrameTheMessage() {
        #expect(framing([("Content-Lengths", "x"), ("X-Content-Length", "x"), ("Content_Length", "x")]) == .untilClose)
    }

    @Test func framingErrorsContainNoControlCharacters() {
        guard case .invalid(let problem) = framing([("Content-Length", "\u{1b}[2J")]) else {
            Issue.record("it is valid")
            return
        }
        #expect(!problem.unicodeScalars.contains { $0.value < 32 })
    }
}
