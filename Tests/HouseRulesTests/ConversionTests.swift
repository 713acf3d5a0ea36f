import Testing

/// No number from outside may end the daemon: conversions that can trap are exceptions, each with its reason.
@Suite struct ConversionTests {
    private let tree = SourceTree()

    private func conversions() throws -> [(file: String, line: Int, code: String)] {
        try tree.swiftFiles(in: "Sources").filter { $0.target != ImportTable.testSupport }.flatMap { file in
            file.lines.enumerated().flatMap { index, line in
                let next = index + 1 < file.lines.count ? file.lines[index + 1] : ""
                return IntegerConversion.all(in: line, next: next).map { (file.path, index + 1, $0.code) }
            }
        }
    }

    @Test func everyConversionThatCanTrapIsAnExceptionWithAReason() throws {
        let unlisted = try conversions().filter { found in
            !ConversionTable.rows.contains { $0.path == found.file && $0.code == found.code }
        }.map {
            "\($0.file):\($0.line): \($0.code): write clamping:, exactly: or radix:, or list it in ConversionTable"
        }
        #expect(unlisted == [])
    }

    @Test func everyExceptionIsStillInTheCode() throws {
        let found = try conversions()
        let stale = ConversionTable.rows.filter { row in
            !found.contains { $0.file == row.path && $0.code == row.code }
        }
        #expect(stale == [])
        #expect(ConversionTable.rows.allSatisfy { !$0.reason.isEmpty })
    }

    @Test(arguments: [
        ("let a = Int32(count)", ["Int32(count)"]),
        ("x = Int(min(Int64(a), b))", ["Int(min(Int64(a), b))", "Int64(a)"]),
        ("\"\\(Int64(value)) B\"", ["Int64(value)"]), ("Int64(range.lowerBound)", ["Int64(range.lowerBound)"]),
        ("off_t(offset) + 1", ["off_t(offset)"]), ("UInt8(8 - kept)", ["UInt8(8 - kept)"]),
        ("Int32(handle.rawValue)", ["Int32(handle.rawValue)"]),
        ("Int64(a.count + b.count)", ["Int64(a.count + b.count)"]),
    ]) func integerConversionsAreFoundInALine(line: String, codes: [String]) {
        #expect(IntegerConversion.all(in: line[...]).map(\.code) == codes)
    }

    @Test(arguments: [
        "Int32(clamping: count)", "Int(exactly: a)", "UInt8(ascii: \"a\")", "Int64(text, radix: 10)",
        "Int64(bytes.count)",
        "Int16(POLLIN)", "Int32(SOCK_STREAM.rawValue)", "Int32(O_PATH | O_CLOEXEC)", "UInt32(0x2421)",
        "Int64(owner.rawValue)", "Int64(UInt32.max)", "// Int32(count)", "makeInt(count)", "value.Int(count)",
        "socklen_t(MemoryLayout<sockaddr_un>.size)", "Int(xfer_auth_basic)", "func f(_ a: Int) -> Int",
    ]) func conversionsThatCannotTrapAreIgnored(line: String) {
        #expect(IntegerConversion.all(in: line[...]) == [])
    }

    @Test func aConversionWithItsArgumentOnTheNextLineIsFound() {
        #expect(IntegerConversion.all(in: "return Int32(", next: "    clamping: a)") == [])
        #expect(IntegerConversion.all(in: "return Int32(", next: "    a)").count == 1)
    }
}
