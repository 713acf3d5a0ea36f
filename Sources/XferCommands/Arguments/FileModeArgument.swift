import ArgumentParser

/// Permission bits in octal, as chmod(1) takes them: `640`, `0640`.
struct FileModeArgument: Hashable, Sendable, ExpressibleByArgument {
    /// 0 … 0o777.
    let bits: UInt16

    init?(argument: String) {
        guard (3...4).contains(argument.utf8.count), let bits = UInt16(argument, radix: 8), bits <= 0o777 else {
            return nil
        }
        self.bits = bits
    }

    /// Four octal digits with the leading zero: `0640`.
    var octal: String {
        let digits = String(bits, radix: 8)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
