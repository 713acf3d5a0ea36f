import Testing

@testable import XferFiles

/// Suggested names on file systems that cannot hold all names. Expected are the rules of "Naming Files, Paths, and
/// Namespaces" (Microsoft) for Windows.
@Suite struct FittedNameTests {
    @Test(
        arguments: [
            ("a: b?.txt", "a_ b_.txt"), ("\"x\"<y>|z*\\.bin", "_x__y__z__.bin"),
            ("plain (1).tar.gz", "plain (1).tar.gz"),
            ("ends.", "ends"), ("ends . .", "ends"), ("con", "_con"), ("NUL.tar.gz", "_NUL.tar.gz"),
            ("com1 .txt", "_com1 .txt"),
            ("console", "console"), ("COM0", "COM0"), ("lpt9.x", "_lpt9.x"), ("tab\tx", "tab_x"), ("...", "download"),
            ("日本: 語.zip", "日本_ 語.zip"),
        ])
    func aNameIsFittedToTheRulesOfWindows(name: String, fitted: String) {
        #expect(FileName.fitted(name, to: .windows, longest: 255) == fitted)
        #expect(FileName.fitted(fitted, to: .windows, longest: 255) == fitted, "fitting is idempotent")
    }

    @Test(arguments: [FileSystemTraits.Names.any, .unknown])
    func aNameStaysAsItIsWhereNoRulesAreKnown(names: FileSystemTraits.Names) {
        #expect(FileName.fitted("a: b?.", to: names, longest: 255) == "a: b?.")
    }

    @Test(arguments: [143, 255, 30])
    func aLongNameIsCutBeforeItsExtension(longest: Int) {
        let fitted = FileName.fitted(String(repeating: "ü", count: 150) + ".tar.gz", to: .any, longest: longest)
        #expect(fitted.hasSuffix("ü.tar.gz") && (longest - 1...longest).contains(fitted.utf8.count), "\(fitted)")
    }

    @Test(
        arguments: [
            ("a.txt", true), ("", false), ("a:b", false), ("ä", false), ("con", false), ("x.", false),
            (String(repeating: "x", count: 130), true), (String(repeating: "x", count: 131), false),
        ])
    func onlyPlainNamesNeedNoAttempt(name: String, isPortable: Bool) {
        #expect(FileName.isPortable(name) == isPortable)
    }

    @Test func everyNameHasAPortableOne() {
        for name in ["日本: 語.zip", "a*b", "con", String(repeating: "ß", count: 120) + ".tar.gz", "", "..."] {
            let portable = FileName.portable(name, longest: 255)
            #expect(FileName.isPortable(portable), "\(portable)")
        }
    }
}
