import Testing
import XferModel

@Suite struct HiddenComponentsTests {
    @Test(arguments: [
        ("/home/ada/.ssh/authorized_keys", "/", ["/home/ada"]),
        ("/home/ada/.bashrc", "/home/ada", ["/home/ada"]),
        ("/home/ada/a/.b/c/.d", "/home/ada", ["/home/ada/a", "/home/ada/a/.b/c"]),
        ("/.hidden", "/", ["/"]),
        // Components of the prefix do not count, and a dot elsewhere hides nothing.
        ("/home/ada/.local/downloads/a.tar.gz", "/home/ada/.local/downloads", []),
        ("/srv/example.org/a..b", "/", []),
        ("/home/ada", "/home/ada", []),
        // A combining mark belongs to the character of the slash before it.
        ("/home/\u{301}ada/.ssh", "/home/\u{301}ada", ["/home/\u{301}ada"]),
        ("/home/.\u{301}ssh", "/home", ["/home"]),
    ])
    func theDirectoriesOfHiddenComponentsBelowAPrefixAreFound(path: String, prefix: String, parents: [String]) {
        #expect(HiddenComponents.parents(in: path, below: prefix) == parents)
    }

    @Test func aNameIsHiddenByItsFirstDotAlone() {
        #expect(HiddenComponents.isHidden(".bashrc") && HiddenComponents.isHidden("."))
        #expect(!HiddenComponents.isHidden("a.b") && !HiddenComponents.isHidden(""))
    }
}
