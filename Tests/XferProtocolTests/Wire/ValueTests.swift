import StrictJSON
import Testing
import XferModel
import XferProtocol

struct ValueTests {
    // MARK: Headers

    @Test func headersAreAnObjectOfStringsOrArrays() throws {
        let wire: JSONValue = ["Accept": "a/b", "X-Tag": ["1", "2"]]
        let list = try HeaderList(strict: wire)
        #expect(list.fields.map(\.name) == ["Accept", "X-Tag", "X-Tag"])
        #expect(list.wire == wire)
    }

    @Test func repeatedFieldsAreGatheredWithoutCase() {
        let list = HeaderList([
            HeaderField(name: "Via", value: "1"), HeaderField(name: "ETag", value: "e"),
            HeaderField(name: "via", value: "2"),
        ])
        #expect(list.wire == ["Via": ["1", "2"], "ETag": "e"])
    }

    @Test(
        arguments: [
            ["A B": "x"], ["": "x"], ["A": "x\r\nB: y"], ["A": "\u{0}"], ["A": 1], ["A": [1]], ["Range": "bytes=0-"],
            ["content-length": "3"], ["If-Range": "\"x\""], ["A": .string(String(repeating: "x", count: 8193))],
            ["X-Many": .array(Array(repeating: "v", count: 101))],
        ] as [JSONValue])
    func headersThatCannotBeSentAreRefused(json: JSONValue) {
        #expect(throws: WireError.self) { try HeaderList(strict: json) }
    }

    @Test func aWrongHeaderIsNamed() {
        let error = #expect(throws: WireError.self) {
            try NewTask(strict: ["url": "http://h/", "headers": ["A": ["x", 1]]])
        }
        #expect(error?.path == "headers.A[1]")
    }

    // MARK: Modes, statuses, checksums

    @Test(arguments: [("0640", 0o640), ("640", 0o640), ("0777", 0o777), ("000", 0)] as [(String, UInt16)])
    func modesAreOctalText(text: String, bits: UInt16) throws {
        #expect(try FileMode(strict: .string(text)).bits == bits)
        #expect(try FileMode(strict: FileMode(strict: .string(text)).wire).bits == bits)
    }

    @Test(arguments: [640, "1777", "0888", "64", "", "rw-r-----", "-640", "+640", "00640"] as [JSONValue])
    func invalidModesAreRefused(json: JSONValue) {
        #expect(throws: WireError.self) { try FileMode(strict: json) }
    }

    @Test(
        arguments: [
            ("200-299", [200...299]), ("404", [404...404]), ("200-299,404", [200...299, 404...404]),
            ("100,599", [100...100, 599...599]),
        ] as [(String, [ClosedRange<Int>])])
    func statusCodesAreCodesAndRanges(text: String, ranges: [ClosedRange<Int>]) throws {
        #expect(try StatusSet(strict: .string(text)).ranges == ranges)
        #expect(StatusSet(ranges)?.wire == .string(text))
    }

    @Test(
        arguments: [
            ("404,200-299", "200-299,404"), ("200-250,251-299", "200-299"), ("200-299,210,200-299", "200-299"),
            (" 200-299 , 404 ", "200-299,404"), ("200-200", "200"), ("200-300,250-260", "200-300"),
        ])
    func aSetOfStatusCodesIsShownInOrderWithoutOverlaps(text: String, shown: String) throws {
        #expect(try StatusSet(strict: .string(text)).wire == .string(shown))
    }

    @Test(
        arguments: [
            "299-200", "99", "600", "200-", "-299", "2xx", "", 200, [200, 206], "200-299-300", "200-299,", ",404",
            "200,,404", "200;404", "200 - 299", "200-299,99", "２００",
        ] as [JSONValue])
    func invalidStatusesAreRefused(json: JSONValue) {
        #expect(throws: WireError.self) { try StatusSet(strict: json) }
    }

    @Test func checksumsAreParsedInHexOrBase64AndWrittenInHex() throws {
        let hex = "md5=d41d8cd98f00b204e9800998ecf8427e"
        #expect(try Checksum(strict: .string(hex)).wire == .string(hex))
        #expect(try Checksum(strict: "md5=1B2M2Y8AsgTpgAmY7PhCfg==").wire == .string(hex))
        for text in ["", "sha-256", "sha-256=xyz", "crc32=00000000", "sha-256=00", "00"] {
            let error = #expect(throws: WireError.self) { try Checksum(strict: .string(text)) }
            #expect(error?.reason == .invalidValue)
        }
    }

    @Test func timesAreRFC3339() throws {
        let time = try Timestamp(strict: "2026-01-02T04:04:05.678+01:00")
        #expect(time.wire == "2026-01-02T03:04:05.678Z")
        #expect(throws: WireError.self) { try Timestamp(strict: "yesterday") }
        #expect(throws: WireError.self) { try Timestamp(strict: 0) }
    }

    @Test(arguments: [0, -1, "1", .number(1.5), nil] as [JSONValue])
    func idsArePositiveIntegers(json: JSONValue) {
        #expect(throws: WireError.self) { try TaskID(strict: json) }
    }

    @Test func methodsAreTokensInTheirOwnCase() throws {
        for method: JSONValue in ["GET", "PROPFIND", "PURGE"] {
            #expect(try HTTPMethod(strict: method).wire == method)
        }
        let error = #expect(throws: WireError.self) { try HTTPMethod(strict: "get") }
        #expect(error?.expected.hasSuffix("did you mean \"GET\"?") == true)
        for json: JSONValue in ["TRACE", "", "A B", 1] {
            #expect(throws: WireError.self) { try HTTPMethod(strict: json) }
        }
    }

    @Test func everyEnumerationReadsItsOwnWords() throws {
        func check<E: WireEnum>(_ type: E.Type) throws {
            for value in E.allCases { #expect(try E(strict: value.wire) == value) }
            #expect(Set(E.allCases.map(\.wireName)).count == E.allCases.count)
        }
        try check(TaskState.self)
        try check(TaskPhase.self)
        try check(TaskKind.self)
        try check(Priority.self)
        try check(WaitReason.self)
        try check(FailureReason.self)
        try check(ConflictPolicy.self)
        try check(FormCharset.self)
        try check(HTTPVersion.self)
        try check(RedirectPolicy.self)
        try check(ShutdownMode.self)
        try check(ResumeMode.self)
        try check(QueueOrder.self)
        try check(EventName.self)
    }

    @Test(arguments: [Int64.min, -1, (1 << 53) + 1, .max] as [Int64])
    func aSequenceNumberOutOfRangeIsRefusedByNameWithTheRange(number: Int64) {
        let error = #expect(throws: WireError.self) { try EventsSince.Params(strict: ["seq": .integer(number)]) }
        #expect(error?.path == "seq" && error?.reason == .outOfRange)
        #expect(error?.expected == "an integer from 0 to 9007199254740992")
    }

    @Test(arguments: [Int64.min, 0, -1, (1 << 53) + 1, .max] as [Int64])
    func anIDOutOfRangeIsRefusedWithTheRange(number: Int64) {
        for type in [TaskID.self, BatchID.self, CacheEntryID.self, FailedURLID.self] as [any WireValue.Type] {
            let error = #expect(throws: WireError.self) { _ = try type.init(strict: .integer(number)) }
            #expect(error?.expected.hasSuffix("from 1 to 9007199254740992") == true)
        }
    }

    @Test func integersAreReadAndWrittenWithinTheBoundsTheirSchemaStates() throws {
        #expect(try Int64(strict: .integer(1 << 60)) == 1 << 60)
        #expect(throws: WireError.self) { try Int64(strict: .integer(.max)) }
        #expect(throws: WireError.self) { try Int(strict: .integer(.min)) }
        #expect(Int64.max.wire == .integer(1 << 60) && Int64.min.wire == .integer(-1 << 60))
    }
}
