import GRDBSQLite
import Glibc
import XferModel

/// A value bound to a statement's parameter.
enum Value: Hashable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    init(integerLiteral value: Int64) { self = .integer(value) }
    init(stringLiteral value: String) { self = .text(value) }

    init(_ value: [UInt8]?) { self = value.map(Value.blob) ?? .null }
    init(_ value: String?) { self = value.map(Value.text) ?? .null }
    init(_ value: Int64?) { self = value.map(Value.integer) ?? .null }
    init(_ value: Int?) { self = value.map { .integer(Int64(clamping: $0)) } ?? .null }
    init(_ value: Bool) { self = .integer(value ? 1 : 0) }
    init(_ value: Timestamp?) { self.init(value?.rawValue) }
    init(_ value: TaskID?) { self.init(value?.rawValue) }
    init(_ value: TransferID?) { self.init(value?.rawValue) }
    init(_ value: BatchID?) { self.init(value?.rawValue) }
    init(_ value: Owner?) { self = value.map { .integer(Int64($0.rawValue)) } ?? .null }
    /// Stores the bit pattern of an unsigned 64-bit number (a device or an inode), because SQLite's integers are
    /// signed.
    init(bits value: UInt64) { self = .integer(Int64(bitPattern: value)) }
    init(bits value: UInt64?) { self = value.map { .integer(Int64(bitPattern: $0)) } ?? .null }
    init(_ value: UInt32?) { self = value.map { .integer(Int64(clamping: $0)) } ?? .null }
    init<T: RawRepresentable<String>>(_ value: T) { self = .text(value.rawValue) }

    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let value): return sqlite3_bind_int64(statement, index, value)
        case .text(var value):
            return value.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    // An empty buffer may have no address, which would bind NULL.
                    sqlite3_bind_text(statement, index, $0.baseAddress ?? Self.empty, Int32($0.count), Self.transient)
                }
            }
        case .blob(let bytes):
            return bytes.withUnsafeBytes {
                sqlite3_bind_blob(
                    statement, index, $0.baseAddress ?? UnsafeRawPointer(Self.empty), Int32($0.count), Self.transient)
            }
        }
    }

    /// The constant SQLITE_TRANSIENT, a cast macro that Swift does not import: SQLite copies the bytes.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    // Never written and never freed.
    private nonisolated(unsafe) static let empty: UnsafePointer<CChar> = {
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        byte.initialize(to: 0)
        return UnsafePointer(byte)
    }()
}

/// The current row of a statement. It is valid until the statement is stepped or reset.
struct ResultRow {
    let pointer: OpaquePointer

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }
    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    /// A length, an offset or a count. A number out of range, which only a damaged row can have, becomes the nearest
    /// valid number, so that sums cannot overflow.
    func amount(_ column: Int32) -> Int64 { min(max(integer(column), 0), ByteCount.greatest) }
    func optionalAmount(_ column: Int32) -> Int64? { isNull(column) ? nil : amount(column) }
    func flag(_ column: Int32) -> Bool { integer(column) != 0 }
    func bits(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }
    func time(_ column: Int32) -> Timestamp { Timestamp(rawValue: integer(column)) }
    func optionalTime(_ column: Int32) -> Timestamp? { optionalInteger(column).map(Timestamp.init(rawValue:)) }

    func text(_ column: Int32) -> String { optionalText(column) ?? "" }

    func optionalText(_ column: Int32) -> String? {
        guard let start = sqlite3_column_text(pointer, column) else { return nil }
        let length = Int(clamping: sqlite3_column_bytes(pointer, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }

    /// Calls `body` with the bytes of a text; with none for NULL.
    func withText(_ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        let start = sqlite3_column_text(pointer, column)
        body(UnsafeBufferPointer(start: start, count: Int(clamping: sqlite3_column_bytes(pointer, column))))
    }

    func optionalBlob(_ column: Int32) -> [UInt8]? {
        guard !isNull(column) else { return nil }
        let length = Int(clamping: sqlite3_column_bytes(pointer, column))
        guard let start = sqlite3_column_blob(pointer, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: length))
    }

    /// True if the column has exactly this value, compared without making a `String`.
    func holds(_ value: Value, _ column: Int32) -> Bool {
        switch value {
        case .null: return isNull(column)
        case .integer(let value): return !isNull(column) && integer(column) == value
        case .text(var value):
            guard let start = sqlite3_column_text(pointer, column) else { return false }
            let length = Int(clamping: sqlite3_column_bytes(pointer, column))
            return value.withUTF8 { bytes in
                bytes.count == length
                    && (length == 0 || bytes.baseAddress.map { memcmp($0, start, length) == 0 } ?? false)
            }
        case .blob(let bytes): return optionalBlob(column) == bytes
        }
    }

    /// A value of an enumeration that is stored as text.
    ///
    /// - Throws: `StoreError.unreadable` if the text is not a value of the enumeration.
    func word<T: RawRepresentable<String>>(
        _ type: T.Type, _ column: Int32, table: String, id: Int64, name: String
    ) throws(StoreError) -> T {
        guard let value = T(rawValue: text(column)) else {
            throw StoreError.unreadable(table: table, id: id, column: name)
        }
        return value
    }
}
