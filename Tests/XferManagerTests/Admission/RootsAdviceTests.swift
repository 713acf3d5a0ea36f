import Testing
import XferModel

@testable import XferManager

@Suite struct RootsAdviceTests {
    @Test func theRefusalNamesTheFileTheKeyAndTheLineToWrite() {
        let advice = RootsAdvice(refused: "/data", roots: ["/home/ann"], file: "/home/ann/c.yaml")
        #expect(
            advice.ofOperator.hasSuffix(
                #"to allow it, write in /home/ann/c.yaml: download: { roots: ["/home/ann", "/data"] }"#))
        #expect(advice.ofOperator.hasPrefix(#""/data" is outside the allowed directories ("/home/ann"), or a"#))
        #expect(
            advice.ofGuest(Owner(uid: 1001)).hasSuffix(
                #"in /home/ann/c.yaml, in the entry of user 1001, or of a group, beneath access: "#
                    + #"roots: ["/home/ann", "/data"]"#))
        #expect(
            advice.ofOperatorsToken(beneath: "/home/ann/d").hasSuffix(
                #"is outside the allowed directories of the token ("/home/ann/d"); an operator can "#
                    + #"allow it in /home/ann/c.yaml: download: { roots: ["/home/ann", "/data"] }, "#
                    + #"and then make a token for it: xferctl token add NAME --dir "/data""#))
        let unlisted = RootsAdvice(refused: "/data", roots: [], file: "/c.yaml")
        #expect(
            unlisted.ofUnlisted(Owner(uid: 1001))
                == "user 1001 has no directory under access.users, nor by a group; "
                + "an operator can allow it in /c.yaml: "
                + #"access: { users: { NAME: { roots: ["/data"] } } }, with the user's name"#)
        #expect(
            advice.ofGuestsToken(Owner(uid: 1001)).hasSuffix(
                "beneath these: xferctl token add NAME --owner 1001 --dir DIR"))
        let named = RootsAdvice(
            refused: "/data", roots: ["/srv"], file: "/c.yaml", grants: RootGrants(names: [1001: "bob"]))
        #expect(named.ofGuest(Owner(uid: 1001)).contains("in the entry of user bob,"))
        #expect(named.ofGuestsToken(Owner(uid: 1001)).hasSuffix("--owner bob --dir DIR"))
        let without = RootsAdvice(refused: "/data", roots: [], file: nil)
        #expect(without.ofOperator.hasSuffix(#"to allow it, write: download: { roots: ["/data"] }"#))
    }

    @Test func pathsAreQuotedAsYAMLTakesThem() {
        let advice = RootsAdvice(refused: "/a\"b\\c\n\u{1B}é", roots: [], file: nil)
        #expect(advice.ofOperator.hasSuffix(#"["/a\"b\\c\x0a\x1bé"] }"#))
    }
}
