import Testing
import XferCore
import XferModel

@Suite struct ResponseHeadTests {
    private func head(_ status: Int = 200, _ fields: (String, String)...) -> ResponseHead {
        ResponseHead(status: status, fields: fields.map { HeaderField(name: $0.0, value: $0.1) })
    }

    @Test func namesCompareWithoutCaseAndContradictoryFieldsCountAsAbsent() {
        #expect(head(200, ("eTaG", "\"a\"")).etag == "\"a\"")
        #expect(head(200, ("ETag", "\"a\""), ("ETag", "\"a\"")).etag == "\"a\"")
        #expect(head(200, ("ETag", "\"a\""), ("ETag", "\"b\"")).etag == nil)
    }

    @Test func theLengthIsThatOfTheBody() {
        #expect(head(200, ("Content-Length", "12")).contentLength == 12)
        #expect(head(200, ("Content-Length", "12"), ("Transfer-Encoding", "chunked")).contentLength == nil)
        #expect(head(204).contentLength == 0)
        for text in ["-1", "+1", "1,2", "", "99999999999999999999"] {
            #expect(head(200, ("Content-Length", text)).contentLength == nil)
        }
    }

    @Test func aPartIsTheWholeOnlyIfItCoversItExactly() {
        func length(_ range: String, _ fields: (String, String)...) -> Int64? {
            let all = [("Content-Range", range)] + fields
            return ResponseHead(status: 206, fields: all.map { HeaderField(name: $0.0, value: $0.1) }).wholeLength
        }
        #expect(length("bytes 0-4/5") == 5)
        #expect(length("bytes 0-4/5", ("Content-Length", "5")) == 5)
        #expect(length("bytes 0-4/5", ("Transfer-Encoding", "chunked")) == 5)
        #expect(length("bytes 0-4/5", ("Content-Length", "4")) == nil)
        #expect(length("bytes 0-4/5", ("Content-Length", "x")) == 5, "which fails for its framing")
        #expect(length("bytes 0-4/5", ("Content-Type", "Multipart/ByteRanges; boundary=x")) == nil)
        #expect(length("bytes 0-4/5", ("Content-Range", "bytes 0-5/6")) == nil)
        #expect(head(206).wholeLength == nil)
        #expect(head(200, ("Content-Range", "bytes 0-4/5")).wholeLength == nil)
        for range in ["bytes 0-4/*", "bytes 0-4/6", "bytes 1-4/5", "bytes */5", "octets 0-4/5", "bytes 0-4"] {
            #expect(length(range) == nil)
        }
    }

    @Test func identityIsNotACoding() {
        #expect(head(200, ("Content-Encoding", "Identity")).contentEncoding == nil)
        #expect(head(200, ("Content-Encoding", "gzip")).contentEncoding == "gzip")
        #expect(head(200, ("Content-Encoding", "gzip"), ("Content-Encoding", "br")).contentEncoding == "gzip, br")
    }

    @Test func aRedirectNeedsALocation() {
        #expect(head(302, ("Location", "/x")).isRedirect)
        #expect(!head(302).isRedirect)
        #expect(!head(304, ("Location", "/x")).isRedirect)
        #expect(!head(300, ("Location", "/x")).isRedirect)
    }

    @Test func digestsOfTheWholeAreFoundBestFirst() throws {
        let md5 = try #require(Checksum(algorithm: .md5, bytes: Array(repeating: 1, count: 16)))
        let sha256 = try #require(Checksum(algorithm: .sha256, bytes: Array(repeating: 2, count: 32)))
        let sha512 = try #require(Checksum(algorithm: .sha512, bytes: Array(repeating: 3, count: 64)))
        func text(_ checksum: Checksum) -> String { Base64.encode(checksum.bytes) }
        let whole = head(
            200, ("Content-MD5", text(md5)), ("Repr-Digest", "sha-256=:\(text(sha256)):;p=1, unixsum=:AQ==:"),
            ("Digest", "MD5=\(text(md5)),SHA-512=\(text(sha512))"))
        #expect(whole.announcedDigests == [sha512, sha256, md5])
    }

    @Test func aPartsOwnDigestIsNotADigestOfTheWhole() throws {
        let bytes = Base64.encode(Array(repeating: UInt8(2), count: 32))
        let fields = [
            ("Content-Digest", "sha-256=:\(bytes):"), ("Content-MD5", Base64.encode(Array(repeating: 1, count: 16))),
        ]
        #expect(head(206, fields[0], fields[1]).announcedDigests.isEmpty)
        #expect(head(200, fields[0], fields[1]).announcedDigests.count == 2)
    }

    @Test(arguments: ["sha-256=:AA==:", "sha-256=:not base64:", "sha-256", "", "sha-256=AA==", "=::"])
    func brokenDigestsAreIgnored(text: String) {
        #expect(head(200, ("Repr-Digest", text)).announcedDigests.isEmpty)
    }

    @Test func anIgnoredDigestHasAReasonThatQuotesNothingOfTheServers() throws {
        func reasons(_ fields: (String, String)...) -> [String] {
            let all = fields.map { HeaderField(name: $0.0, value: $0.1) }
            return AnnouncedDigestFields(ResponseHead(status: 200, fields: all)).ignored
        }
        let good = "sha-256=:\(Base64.encode(Array(repeating: UInt8(2), count: 32))):"
        #expect(reasons(("Repr-Digest", good), ("Digest", "UNIXsum=30637")).isEmpty)
        #expect(
            reasons(("Repr-Digest", "sha-256=:AA==:")) == ["sha-256 in Repr-Digest has 1 bytes, expected 32"])
        #expect(reasons(("Repr-Digest", "sha-256=?1")) == ["sha-256 in Repr-Digest is not a byte sequence"])
        #expect(
            reasons(("Content-Digest", good + ", SHA-512=:AA==:"))
                == ["Content-Digest is not a dictionary of structured values (RFC 9651)"])
        #expect(reasons(("Digest", "MD5=!")) == ["md5 in Digest is not base64"])
        #expect(reasons(("Content-MD5", "AA=="), ("Content-MD5", "AQ==")).count == 1)
    }

    @Test func sixtyFourKilobytesOfNonsenseAreIgnored() throws {
        let nonsense = String(repeating: "x\u{1b}=:", count: 16_384)
        for name in ["Repr-Digest", "Content-Digest", "Digest"] {
            let fields = [HeaderField(name: name, value: nonsense)]
            let read = AnnouncedDigestFields(ResponseHead(status: 200, fields: fields))
            #expect(read.digests.isEmpty)
            let reason = try #require(read.ignored.first)
            #expect(reason.hasPrefix(name) && reason.utf8.count < 100)
        }
    }

    @Test func tagsMatchStronglyOnlyIfBothAreStrong() {
        #expect(EntityTag.matchStrongly("\"a\"", "\"a\""))
        #expect(!EntityTag.matchStrongly("W/\"a\"", "W/\"a\""))
        #expect(!EntityTag.matchStrongly("\"a\"", "W/\"a\""))
        #expect(!EntityTag.matchStrongly("a", "a"))
        #expect(!EntityTag.matchStrongly(nil, nil))
        // Many handlers leave out the quotes.
        for tag in ["5f3c-1a2b", "d41d8cd98f00b204e9800998ecf8427e", "v1.2,3"] {
            #expect(EntityTag.matchStrongly(tag, tag))
            #expect(!EntityTag.matchStrongly(tag, "\"\(tag)\"") && !EntityTag.matchStrongly(tag, "\(tag)0"))
        }
        for tag in [
            "", "-", "null", "undefined", "12345", "W/123456", "w/123456", "\"123456", "123 456", "12345\u{e9}",
        ] {
            #expect(!EntityTag.matchStrongly(tag, tag), "\(tag)")
        }
        #expect(EntityTag.matchWeakly("W/\"a\"", "\"a\""))
        // The same character in two spellings is not the same tag.
        #expect(!EntityTag.matchStrongly("\"\u{e9}\"", "\"e\u{301}\""))
    }
}
