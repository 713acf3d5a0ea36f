import Testing
import XferCore
import XferModel
import XferTestSupport

/// curl's tests of netrc files: which login a file gives for a host and the account in the URL.
@Suite struct NetrcConformanceTests {
    struct Subject: Sendable {
        var file: String
        /// The account in the URL, and its password.
        var account: String?
        var password: String?
        /// A login that the task names besides.
        var own: Credential?
        /// `user:password` as it is sent; nil is none.
        var sent: String?
    }

    private static let two = """
        # both are for the same machine
        machine files.test login anna password pw1
        machine files.test login berta password pw2
        """

    static let cases: [ConformanceCase<Subject>] = [
        .same("curl 130", Subject(file: two, sent: "anna:pw1")),
        .same("curl 131", Subject(file: two, account: "berta", sent: "berta:pw2")),
        .same("curl 132", Subject(file: two, account: "carl", password: "own", sent: "carl:own")),
        .differs(
            "curl 133", because: "an account in the URL never gets another account's password, nor gives way to it",
            Subject(file: two, account: "carl", password: "own", sent: "carl:own")),
        .same(
            "curl 134",
            Subject(
                file: two, account: "carl", password: "own", own: Credential(user: "emma", password: "hers"),
                sent: "emma:hers")),
        .same(
            "curl 478",
            Subject(
                file: """
                    machine files.test
                    password odd
                    password first
                    login anna

                    machine files.test

                    machine files.test
                    login berta

                    machine files.test
                    password odd
                    password "tab\\there"
                    login berta
                    """, account: "berta", sent: "berta:tab\there")),
        .same(
            "curl 679",
            Subject(
                file: #"machine files.test login anna password "a b \"c\" \\ \d""#, account: "anna",
                sent: #"anna:a b "c" \ d"#)),
        .differs(
            "curl 680", because: "a text that cannot be understood is ignored; the request goes without a login",
            Subject(file: #"machine files.test login anna password "a b"#, sent: nil)),
        .same("curl 682", Subject(file: two, account: "anna", sent: "anna:pw1")),
        .same("curl 684", Subject(file: "machine files.test password pw3", sent: ":pw3")),
        .same("curl 685", Subject(file: "machine files.test password pw3", account: "dora", sent: "dora:pw3")),
    ]

    @Test(arguments: cases) func aFileGivesTheLoginThatCurlTakesFromIt(test: ConformanceCase<Subject>) throws {
        let subject = test.subject
        let url = HTTPURL(scheme: .https, host: "files.test", port: 443, target: "/")
        let account = subject.account.map { Credential(user: $0, password: subject.password ?? "") }
        let wanted = subject.own ?? Credential(scheme: .netrc, user: "", secret: .value(subject.file))
        let resolved = ResolvedCredential(inline: wanted.completed(by: account), home: url.origin)
        let expected = subject.sent.map { HopAuthentication.field("Basic " + Base64.encode($0.utf8)) }
        #expect(HopAuthentication(resolved, hop: url) == (expected ?? HopAuthentication.none))
    }
}
