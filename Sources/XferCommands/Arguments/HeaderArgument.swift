import ArgumentParser

/// A request header field as curl's `-H` takes it: `Name: value`.
struct HeaderArgument: Hashable, Sendable, ExpressibleByArgument {
    let name: String
    let value: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        let name = argument[..<colon]
        guard !name.isEmpty, name.utf8.allSatisfy({ Self.tokenBytes.contains($0) }) else { return nil }
        let value = argument[argument.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        guard !value.utf8.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7f }) else { return nil }
        self.name = String(name)
        self.value = String(value)
    }

    /// RFC 9110 §5.6.2, `tchar`.
    private static let tokenBytes = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
}
