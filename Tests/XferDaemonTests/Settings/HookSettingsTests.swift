import Testing
import XferManager
import XferModel

@testable import XferDaemon

@Suite struct HookSettingsTests {
    @Test func hooksAreReadAndPrinted() throws {
        let loaded = try load(
            """
            hooks:
              scan: { argv: [/usr/bin/clamdscan, --no-summary, "a b", 7], timeout: 2m, guests: true }
              tell:
                argv: [~/bin/tell]
            """)
        #expect(
            loaded.settings.service.hooks == [
                HookDefinition(
                    name: "scan", arguments: ["/usr/bin/clamdscan", "--no-summary", "a b", "7"], timeout: 120,
                    isForGuests: true),
                HookDefinition(name: "tell", arguments: ["/home/ann/bin/tell"]),
            ])
        // What is printed can be read again.
        #expect(try load(loaded.yaml).settings.service.hooks == loaded.settings.service.hooks)
        #expect(try load("hooks:").settings.service.hooks == [])
    }

    @Test(arguments: [
        ("hooks: [a]", "/c.yaml:1:8"), ("hooks: { a: }", "argv"), ("hooks: { a: { timeout: 5 } }", "argv is missing"),
        ("hooks: { a: { argv: [] } }", "absolute"), ("hooks: { a: { argv: /bin/true } }", "a list"),
        ("hooks: { a: { argv: [true] } }", "absolute"), ("hooks: { a: { argv: [/bin/a, [b]] } }", "a text"),
        ("hooks: { a: { argv: [/bin/true], timeout: 0 } }", "timeout"),
        ("hooks: { a: { argv: [/bin/true], shell: yes } }", "shell"),
        ("hooks: { a: { argv: [/bin/true], guests: maybe } }", "guests"),
        ("hooks: { 'a b': { argv: [/bin/true] } }", "name"),
    ])
    func aFaultyHookIsNamedInTheError(yaml: String, part: String) throws {
        let problem = try #require(try problems(of: yaml).first)
        #expect(problem.contains("hooks") && problem.contains(part), "\(problem)")
    }
}
