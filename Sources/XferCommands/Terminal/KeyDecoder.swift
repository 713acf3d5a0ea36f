/// A key of a terminal's keyboard.
enum Key: Hashable, Sendable {
    case character(Character)
    /// A letter in lower case together with Ctrl.
    case control(Character)
    case up, down, left, right, pageUp, pageDown, home, end, insert, delete
    case enter, backspace, tab, escape
    /// F1 is 1.
    case function(Int)
}

/// Makes keys from the bytes that a terminal sends: UTF-8, control characters, and the sequences of cursor and function
/// keys (ECMA-48, xterm, rxvt and the Linux console). A value: bytes may come in any portions.
///
/// Unknown sequences are dropped completely, so that none of their bytes is read as a letter.
struct KeyDecoder: Sendable {
    private var state = State.ground

    private enum State: Hashable {
        case ground
        /// An ESC was read: the key Escape, or the beginning of a sequence.
        case escape
        /// Within a control sequence, with its parameters so far.
        case sequence([UInt8])
        /// The last byte of a sequence that began with ESC O.
        case shift
        /// The last byte of a function key of the Linux console, which begins with ESC [ [.
        case console
        /// Within a string, such as an answer to a request for colours, which ends with BEL or ESC \.
        case string
        case stringEscape
        /// Within a character of several bytes. With Alt it is dropped.
        case scalar([UInt8], count: Int, isDropped: Bool)
    }

    /// The longest parameters that are kept; longer ones belong to no key.
    private static let longest = 16

    /// True if the key Escape was pressed unless more bytes follow at once.
    var isAfterEscape: Bool { state == .escape }

    /// The keys that these bytes complete.
    mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
        var keys: [Key] = []
        for byte in bytes { decode(byte, into: &keys) }
        return keys
    }

    /// The keys after a pause: an ESC without further bytes is the key Escape.
    mutating func onPause() -> [Key] {
        guard isAfterEscape else { return [] }
        state = .ground
        return [.escape]
    }

    private mutating func decode(_ byte: UInt8, into keys: inout [Key]) {
        switch state {
        case .ground: begin(byte, isDropped: false, into: &keys)
        case .escape: introduce(byte, into: &keys)
        case .sequence(let parameters): continueSequence(parameters, byte, into: &keys)
        case .shift: finish(byte, into: &keys) { Self.key(final: byte, number: nil) }
        case .console:
            finish(byte, into: &keys) { (0x41...0x45).contains(byte) ? .function(Int(clamping: byte) - 0x40) : nil }
        case .string: state = byte == 0x07 ? .ground : byte == 0x1b ? .stringEscape : .string
        case .stringEscape:
            state = .escape
            if byte == UInt8(ascii: "\\") { state = .ground } else { introduce(byte, into: &keys) }
        case .scalar(let bytes, let count, let isDropped):
            continueScalar(bytes + [byte], count, isDropped, into: &keys)
        }
    }

    /// A byte that begins something.
    private mutating func begin(_ byte: UInt8, isDropped: Bool, into keys: inout [Key]) {
        state = .ground
        switch byte {
        case 0x1b: state = .escape
        case 0xc2...0xdf: state = .scalar([byte], count: 2, isDropped: isDropped)
        case 0xe0...0xef: state = .scalar([byte], count: 3, isDropped: isDropped)
        case 0xf0...0xf4: state = .scalar([byte], count: 4, isDropped: isDropped)
        default: if !isDropped, let key = Self.key(of: byte) { keys.append(key) }
        }
    }

    /// The byte after ESC.
    private mutating func introduce(_ byte: UInt8, into keys: inout [Key]) {
        switch byte {
        case 0x1b: keys.append(.escape)
        case UInt8(ascii: "["): state = .sequence([])
        case UInt8(ascii: "O"): state = .shift
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "X"):
            state = .string
        // A key with Alt.
        default: begin(byte, isDropped: true, into: &keys)
        }
    }

    private mutating func continueSequence(_ parameters: [UInt8], _ byte: UInt8, into keys: inout [Key]) {
        switch byte {
        case 0x20...0x3f:
            state = .sequence(parameters.count < Self.longest ? parameters + [byte] : parameters)
        case UInt8(ascii: "[") where parameters.isEmpty: state = .console
        default:
            finish(byte, into: &keys) {
                // Private parameters are the terminal's reports, and CSI M is a report of its mouse.
                guard parameters.count < Self.longest, !parameters.contains(where: { $0 >= 0x3c }),
                    byte != UInt8(ascii: "M")
                else { return nil }
                let numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
                return Self.key(
                    final: byte, number: numbers.first.flatMap { Int(String(decoding: $0, as: UTF8.self), radix: 10) })
            }
        }
    }

    /// Handles the last byte of a sequence. A byte that cannot be one ends the sequence and begins a new one.
    private mutating func finish(_ byte: UInt8, into keys: inout [Key], _ key: () -> Key?) {
        guard (0x40...0x7e).contains(byte) else { return begin(byte, isDropped: false, into: &keys) }
        state = .ground
        if let key = key() { keys.append(key) }
    }

    private mutating func continueScalar(
        _ bytes: [UInt8], _ count: Int, _ isDropped: Bool, into keys: inout [Key]
    ) {
        guard let last = bytes.last, last & 0xc0 == 0x80 else {
            return begin(bytes.last ?? 0, isDropped: false, into: &keys)
        }
        guard bytes.count == count else { return state = .scalar(bytes, count: count, isDropped: isDropped) }
        state = .ground
        guard !isDropped, let text = String(validating: bytes, as: UTF8.self), let character = text.first else {
            return
        }
        keys.append(.character(character))
    }

    private static func key(of byte: UInt8) -> Key? {
        switch byte {
        case 0x0a, 0x0d: .enter
        case 0x08, 0x7f: .backspace
        case 0x09: .tab
        case 0x01...0x1a: .control(Character(Unicode.Scalar(byte + 0x60)))
        case 0x20...0x7e: .character(Character(Unicode.Scalar(byte)))
        default: nil
        }
    }

    /// The key of a sequence's last byte and first number.
    private static func key(final: UInt8, number: Int?) -> Key? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "M"): .enter
        case UInt8(ascii: "P")...UInt8(ascii: "S"): .function(Int(clamping: final) - 0x4f)
        case UInt8(ascii: "~"): number.flatMap(editingKey)
        default: nil
        }
    }

    private static func editingKey(_ number: Int) -> Key? {
        switch number {
        case 1, 7: .home
        case 2: .insert
        case 3: .delete
        case 4, 8: .end
        case 5: .pageUp
        case 6: .pageDown
        case 11...15: .function(number - 10)
        case 17...21: .function(number - 11)
        case 23, 24: .function(number - 12)
        default: nil
        }
    }
}

/// Text that is typed on one line. It is a value that keys change.
struct TypedLine: Hashable, Sendable {
    private(set) var text = ""

    /// The highest number of accepted characters.
    static let limit = 200

    init(_ text: String = "") { self.text = text }

    /// Applies a key to the text.
    ///
    /// - Returns: true if the key edits text.
    mutating func onKey(_ key: Key) -> Bool {
        switch key {
        case .character(let character): if text.count < Self.limit { text.append(character) }
        case .backspace: if !text.isEmpty { text.removeLast() }
        case .control("u"): text = ""
        case .control("w"):
            while text.last == " " { text.removeLast() }
            while let last = text.last, last != " " { text.removeLast() }
        default: return false
        }
        return true
    }
}
