import Testing

/// What is masked, and what the wildcards of documents stand for.
struct ConsoleOutputTests {
    private let comparison = ConsoleOutput(home: "/tmp/xferd.a1")

    @Test(arguments: [
        ("#1 completed: a -> /tmp/xferd.a1/a (8.0 MiB)", "#1 completed: a -> /home/ada/a (8.0 MiB)"),
        ("127.0.0.1:4711 answered 404", "example.org answered 404"),
        ("ready socket=/tmp/xferd.a1/xferd.sock", "ready socket=/run/user/1000/xferd.sock"),
        (" 4  running   7%  8.0 MiB  19 KiB/s  a", " 4  running  12%  8.0 MiB  488 KiB/s  a"),
        ("completed    2026-11-22 18:27:22", "completed    2026-01-02 03:05:00"),
        ("xferd 1.0.0~dev+0123abc, process 7", "xferd 1.0.0 (9f3c2d91ab47), process 8"),
        ("first\nsecond\nlast", "first\n…\nlast"), ("a head and a tail", "a head…tail"),
    ])
    func outputThatDiffersOnlyInMaskedPartsAndWildcardsMatches(printed: String, expected: String) {
        #expect(comparison.matches(printed + "\n", expected.split(separator: "\n").map(String.init)))
    }

    @Test(arguments: [
        ("#1 queued: a", "#1 running: a"), ("#1 queued: a", "#2 queued: a"), ("a\nb", "a"), ("a", "a\nb"),
        ("ready socket=\"/tmp/xferd.a1/xferd.sock\"", "ready socket=/run/user/1000/xferd.sock"),
        ("a (8.0 MiB)", "a (7.0 MiB)"), ("a head and no end", "a head…tail"), ("first\nsecond", "…\nlast"),
    ])
    func outputThatDiffersElsewhereDoesNotMatch(printed: String, expected: String) {
        #expect(!comparison.matches(printed + "\n", expected.split(separator: "\n").map(String.init)))
    }

    @Test func aConsoleBlockIsReadAsCommandsWithTheirOutput() {
        let blocks = ConsoleBlock.all(
            in: "```sh\n$ no\n```\n```console\n$ a \\\n  b\nout\n$ c 'd\ne'\n```\n```console norun\n$ f\n```\n")
        #expect(blocks.map(\.isSkipped) == [false, true])
        #expect(blocks.first?.steps.map(\.command) == ["a \\\n  b", "c 'd\ne'"])
        #expect(blocks.first?.steps.map(\.output) == [["out"], []])
    }
}
