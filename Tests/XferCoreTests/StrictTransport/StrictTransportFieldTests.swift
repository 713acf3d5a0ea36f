import Testing
import XferCore

/// RFC 6797 §6.1 and the examples of §6.2.
@Suite struct StrictTransportFieldTests {
    @Test(
        arguments: [
            ("max-age=31536000", 31_536_000, false),
            ("max-age=15768000 ; includeSubDomains", 15_768_000, true),
            (#"max-age="31536000""#, 31_536_000, false),
            ("max-age=0", 0, false),
            ("max-age=0; includeSubDomains", 0, true),
            ("includeSubDomains;max-age=5", 5, true),
            // Names differ by no case, and empty directives are allowed.
            (" ;MAX-AGE = 1 ; INCLUDESUBDOMAINS;; ", 1, true),
            // Unknown directives are ignored, whatever their values are.
            (#"max-age=1; preload; x="a;b\"c"; y=z"#, 1, false),
            ("max-age=99999999999999999999", .max, false),
        ] as [(String, Int64, Bool)])
    func aConformingValueIsRead(text: String, maxAge: Int64, includesSubdomains: Bool) {
        #expect(
            StrictTransportField(text) == StrictTransportField(maxAge: maxAge, includesSubdomains: includesSubdomains))
    }

    @Test(arguments: [
        "", "includeSubDomains", "max-age", "max-age=", "max-age=abc", "max-age=-1", "max-age=1.5", "max-age=+1",
        "max-age=1; max-age=1", "max-age=1; includeSubDomains; includesubdomains", "max-age=1; includeSubDomains=1",
        "max-age=1 includeSubDomains", #"max-age="1"#, "max-age=1, max-age=2", "max-age=1; =x", #"max-age="""#,
        "max-age=1; a=b c",
    ])
    func aFieldThatDoesNotConformIsIgnoredAsAWhole(text: String) {
        #expect(StrictTransportField(text) == nil)
    }
}
