/// Reads a file of the time zone database: TZif, versions 1 to 4 (RFC 8536, RFC 9636).
public enum TimeZoneFile {
    /// The reason why the bytes are not a time zone.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String
        init(_ description: String) { self.description = description }
    }

    public static func read(_ bytes: [UInt8]) throws(Fault) -> TimeZoneRules {
        var reader = Reader(bytes: bytes)
        let header = try Header(&reader)
        guard header.version >= UInt8(ascii: "2") else { return try block(header, timeSize: 4, &reader, footer: nil) }
        // From version 2 on, the same data follows with 64-bit times, then the footer.
        try reader.skip(header.size(timeSize: 4))
        let second = try Header(&reader)
        var after = reader
        try after.skip(second.size(timeSize: 8))
        return try block(second, timeSize: 8, &reader, footer: try footer(&after))
    }

    private struct Header {
        let version: UInt8
        let utcIndicators, standardIndicators, leaps, times, types, characters: Int

        init(_ reader: inout Reader) throws(Fault) {
            guard try reader.bytes(4) == Array("TZif".utf8)[...] else { throw Fault("it does not begin with TZif") }
            version = try reader.bytes(1).first ?? 0
            try reader.skip(15)
            utcIndicators = try reader.count()
            standardIndicators = try reader.count()
            leaps = try reader.count()
            times = try reader.count()
            types = try reader.count()
            characters = try reader.count()
            guard types > 0 else { throw Fault("it has no local time type") }
        }

        func size(timeSize: Int) -> Int {
            times * (timeSize + 1) + types * 6 + characters + leaps * (timeSize + 4) + standardIndicators
                + utcIndicators
        }
    }

    private static func block(
        _ header: Header, timeSize: Int, _ reader: inout Reader, footer: YearlyRules?
    ) throws(Fault) -> TimeZoneRules {
        guard header.leaps == 0 else { throw Fault("it contains leap seconds") }
        var starts: [Int64] = []
        for _ in 0..<header.times { starts.append(try reader.integer(timeSize)) }
        guard zip(starts, starts.dropFirst()).allSatisfy(<) else { throw Fault("its times are not in order") }
        let indices = try reader.bytes(header.times).map { Int(clamping: $0) }
        var offsets: [Int64] = []
        for _ in 0..<header.types {
            let offset = try reader.integer(4)
            // RFC 8536 §3.2: no offset in use is outside this range.
            guard (-89_999...93_599).contains(offset) else { throw Fault("an offset from UTC is out of range") }
            offsets.append(offset)
            try reader.skip(2)
        }
        guard indices.allSatisfy({ $0 < offsets.count }) else {
            throw Fault("a time refers to a type that does not exist")
        }
        // zic(8) writes the Big Bang into some files; far smaller numbers will do for adding offsets to them.
        starts = starts.map { min(max($0, -TimeZoneRules.end), TimeZoneRules.end) }
        let changes = zip(starts, indices).map { TimeZoneRules.Change(start: $0, offset: offsets[$1]) }
        return TimeZoneRules(
            initialOffset: offsets[0], changes: changes, rules: footer, rulesStart: starts.last ?? .min)
    }

    /// The yearly rules, or nil when the footer is empty: then the last offset applies forever.
    private static func footer(_ reader: inout Reader) throws(Fault) -> YearlyRules? {
        guard try reader.bytes(1).first == UInt8(ascii: "\n") else { throw Fault("its last line is missing") }
        let text = reader.rest.prefix { $0 != UInt8(ascii: "\n") }
        guard text.endIndex < reader.rest.endIndex else { throw Fault("its last line has no end") }
        guard !text.isEmpty else { return nil }
        guard let rules = YearlyRules(text) else { throw Fault("its last line is not a POSIX TZ string") }
        return rules
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        init(bytes: [UInt8]) { rest = bytes[...] }

        mutating func bytes(_ count: Int) throws(Fault) -> ArraySlice<UInt8> {
            guard count <= rest.count else { throw Fault("it ends too early") }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }

        mutating func skip(_ count: Int) throws(Fault) { _ = try bytes(count) }

        /// Reads an integer: big-endian, two's complement, 4 or 8 bytes.
        mutating func integer(_ size: Int) throws(Fault) -> Int64 {
            let value = try bytes(size).reduce(0 as UInt64) { $0 << 8 | UInt64(clamping: $1) }
            return size == 4 ? Int64(clamping: Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
        }

        mutating func count() throws(Fault) -> Int {
            let value = Int(clamping: try integer(4))
            guard (0...1 << 20).contains(value) else { throw Fault("a count in it is out of range") }
            return value
        }
    }
}
