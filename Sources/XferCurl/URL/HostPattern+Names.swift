public import XferModel

extension HostPattern {
    /// Reads a pattern as an operator writes it: an internationalised name becomes what libcurl makes of it in a URL,
    /// so that pattern and host agree.
    public static func parse(_ text: String) throws(HostPatternError) -> HostPattern {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return try HostPattern(text) }
        let prefix = ["*.", "."].first { text.hasPrefix($0) } ?? ""
        let rest = text.dropFirst(prefix.count)
        let name = rest.prefix { $0 != ":" }
        guard !name.contains(where: { "/@?#[]".contains($0) }), let host = Self.host(name) else {
            throw HostPatternError(pattern: text, problem: .badName)
        }
        return try HostPattern(prefix + host + rest.dropFirst(name.count))
    }

    private static func host(_ name: Substring) -> String? {
        do throws(URLSyntaxError) {
            return try CurlURL.parse("https://\(name)/").url.host
        } catch {
            return nil
        }
    }
}
