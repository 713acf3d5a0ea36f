import Testing
import XferModel

@testable import XferManager

@Suite struct DefaultDirectoryTests {
    @Test(arguments: [
        (["/srv/bob"], false, "/srv/bob"), (["/srv/bob", "/mnt"], false, "/srv/bob"),
        (["/srv/bob", "/var/lib/xferd/downloads"], false, "/var/lib/xferd/downloads"),
        (["/srv/bob", "/var/lib"], false, "/var/lib/xferd/downloads"), (["/"], false, "/var/lib/xferd/downloads"),
        // A name that only begins alike.
        (["/var/lib/xferd/down"], false, "/var/lib/xferd/down"), ([], false, "/var/lib/xferd/downloads"),
        (["/srv/bob"], true, "/var/lib/xferd/downloads"),
    ])
    func aGuestsFilesGoBeneathItsRoots(roots: [String], isOperator: Bool, expected: String) {
        let principal = Principal(owner: Owner(uid: 1001), isOperator: isOperator, roots: roots)
        #expect(principal.defaultDirectory("/var/lib/xferd/downloads") == expected)
    }
}
