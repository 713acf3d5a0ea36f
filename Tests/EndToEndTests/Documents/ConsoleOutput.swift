/// Compares what a document says with what was printed.
///
/// Masked in both: addresses, times, numbers of events, durations, rates, shares, process and user numbers, pins,
/// versions of xferd, and the home directory.
/// In what a document says, `…` stands for any text, and on a line of its own for any lines.
struct ConsoleOutput {
    /// The home directory of the commands.
    let home: String

    func matches(_ printed: String, _ expected: [String]) -> Bool {
        var lines = printed.split(separator: "\n", omittingEmptySubsequences: false).map { masked(String($0)) }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return Self.matches(lines[...], expected.map(masked)[...])
    }

    private static func matches(_ lines: ArraySlice<String>, _ expected: ArraySlice<String>) -> Bool {
        guard let first = expected.first else { return lines.isEmpty }
        if first == "…" {
            return (lines.startIndex...lines.endIndex).contains { matches(lines[$0...], expected.dropFirst()) }
        }
        guard let line = lines.first, matches(line, pattern: first) else { return false }
        return matches(lines.dropFirst(), expected.dropFirst())
    }

    private static func matches(_ line: String, pattern: String) -> Bool {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
        guard parts.count > 1, let head = parts.first, let tail = parts.last else { return line == pattern }
        guard line.hasPrefix(head) else { return false }
        var rest = line.dropFirst(head.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(tail)
    }

    func masked(_ line: String) -> String {
        var text = line.replacing(home, with: "~").replacing("/home/ada", with: "~")
            .replacing("/run/user/1000", with: "~").replacing("~/usr/", with: "/usr/")
        text.replace(/(https?:\/\/)?([a-z0-9-]+\.)*example(\.(org|com|net))?(:[0-9]+)?/, with: "<host>")
        text.replace(/(https?:\/\/)?(127\.0\.0\.1|localhost)(:[0-9]+)/, with: "<host>")
        text.replace(/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z?/, with: "<time>")
        text.replace(/[0-9]{2}:[0-9]{2}:[0-9]{2}/, with: "<time>")
        // Beside a task's events those of the daemon take numbers, when its machine is slow.
        text.replace(/<time> +[0-9]+ ([a-z_]+\.)/) { "<time> <number> \($0.output.1)" }
        text.replace(/[0-9.]+ (k|[KMG]i?)?B\/s/, with: "<rate>")
        text.replace(/[0-9]+%/, with: "<share>")
        text.replace(/(process|owner) +[0-9]+/) { "\($0.output.1) <number>" }
        text.replace(
            /xferd +[0-9]+(\.[0-9]+){2}(-[0-9a-z.]+)?(~dev(\+[0-9a-f]+)?| \([0-9a-f]+\))?/, with: "xferd <version>")
        text.replace(/up [0-9dhms]+/, with: "up <duration>")
        text.replace(/sha256\/[A-Za-z0-9+\/]{43}=/, with: "<pin>")
        text.replace(/[ ]+/, with: " ")
        while text.hasSuffix(" ") { text.removeLast() }
        return text
    }
}
