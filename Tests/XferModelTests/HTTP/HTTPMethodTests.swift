import Testing
import XferModel

/// The methods of the IANA registry and other tokens (RFC 9110 §9.1, §9.2).
@Suite struct HTTPMethodTests {
    /// The registry, without the methods that are refused.
    @Test(
        arguments: [
            ("ACL", false, true), ("BASELINE-CONTROL", false, true), ("BIND", false, true), ("CHECKIN", false, true),
            ("CHECKOUT", false, true), ("COPY", false, true), ("DELETE", false, true), ("GET", true, true),
            ("HEAD", true, true), ("LABEL", false, true), ("LINK", false, true), ("LOCK", false, false),
            ("MERGE", false, true), ("MKACTIVITY", false, true), ("MKCALENDAR", false, true), ("MKCOL", false, true),
            ("MKREDIRECTREF", false, true), ("MKWORKSPACE", false, true), ("MOVE", false, true),
            ("OPTIONS", true, true),
            ("ORDERPATCH", false, true), ("PATCH", false, false), ("POST", false, false), ("PROPFIND", true, true),
            ("PROPPATCH", false, true), ("PUT", false, true), ("QUERY", true, true), ("REBIND", false, true),
            ("REPORT", true, true),
            ("SEARCH", true, true), ("UNBIND", false, true), ("UNCHECKOUT", false, true), ("UNLINK", false, true),
            ("UNLOCK", false, true), ("UPDATE", false, true), ("UPDATEREDIRECTREF", false, true),
            ("VERSION-CONTROL", false, true), ("PURGE", false, false), ("x-Method!", false, false),
        ] as [(String, Bool, Bool)])
    func aMethodIsSafeAndIdempotentAsRegistered(name: String, isSafe: Bool, isIdempotent: Bool) throws {
        let method = try #require(HTTPMethod(rawValue: name))
        #expect(method.rawValue == name && method.isSafe == isSafe && method.isIdempotent == isIdempotent)
    }

    @Test(arguments: [
        "", "GET ", "A/B", "PÖST", "A\u{0}", "get", "Propfind", "CONNECT", "connect", "TRACE", "PRI", "*",
    ])
    func otherTextsAreNoMethods(text: String) { #expect(HTTPMethod(rawValue: text) == nil) }

    /// RFC 9110 §8.6 asks for a Content-Length of 0; RFC 10008 §2: QUERY is about its content.
    @Test(arguments: ["POST", "PUT", "PATCH", "QUERY"]) func aMethodForContentSaysSoWithoutAny(name: String) throws {
        let method = try #require(HTTPMethod(rawValue: name))
        #expect(method.anticipatesContent && method.allowsContent)
    }

    @Test func aMethodHasAtMost64Bytes() {
        #expect(HTTPMethod(rawValue: String(repeating: "M", count: 64)) != nil)
        #expect(HTTPMethod(rawValue: String(repeating: "M", count: 65)) == nil)
    }

    @Test func peopleMayWriteRegisteredMethodsInAnyCase() {
        #expect(HTTPMethod(anyCase: "mkcol")?.rawValue == "MKCOL" && HTTPMethod(anyCase: "get") == .get)
        #expect(HTTPMethod(anyCase: "Purge")?.rawValue == "Purge" && HTTPMethod(anyCase: "trace") == nil)
    }
}
