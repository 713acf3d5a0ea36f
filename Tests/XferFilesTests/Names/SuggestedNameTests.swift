import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

@Suite struct SuggestedNameTests {
    // Mostly http://test.greenbytes.de/tech/tc2231/.
    @Test(
        arguments: [
            ("attachment; filename=\"foo.html\"", "foo.html"),
            ("attachment; filename=foo.html", "foo.html"),
            ("attachment; filename=foo.html ;", "foo.html"),
            ("attachment;filename = \"foo.html\" ; size=5", "foo.html"),
            ("inline; filename=\"foo.html\"", "foo.html"),
            ("attachment; FILENAME=\"foo.html\"", "foo.html"),
            ("attachment; filename=\"f\\oo.html\"", "foo.html"),
            ("attachment; filename=\"\\\"quoting\\\" tested.html\"", "\"quoting\" tested.html"),
            ("attachment; filename=\"semi;colon=.html\"", "semi;colon=.html"),
            ("attachment; foo=\"\\\"filename=x\"; filename=\"foo.html\"", "foo.html"),
            ("attachment; filename*=UTF-8''foo-%c3%a4-%e2%82%ac.html", "foo-ä-€.html"),
            ("attachment; filename*=utf-8'en'foo%20bar.html", "foo bar.html"),
            ("attachment; filename*=iso-8859-1''foo-%E4.html", "foo-ä.html"),
            ("attachment; filename*=\"UTF-8''foo-%c3%a4.html\"", "foo-ä.html"),
            ("attachment; filename=\"plain.html\"; filename*=UTF-8''better-%c3%a4.html", "better-ä.html"),
            ("attachment; filename*=UTF-8''better-%c3%a4.html; filename=\"plain.html\"", "better-ä.html"),
            ("attachment; filename*=UTF-8''bad-%c3%; filename=plain.html", "plain.html"),
            ("attachment; filename*=UTF-8''bad-%e4.html; filename=plain.html", "plain.html"),
            ("attachment; filename*=koi8-r''x.html; filename=plain.html", "plain.html"),
            ("attachment; filename*=''x.html; filename=plain.html", "plain.html"),
            ("attachment; filename*=UTF-8''..; filename=plain.html", "plain.html"),
            ("attachment; filename=first.html; filename=second.html", "first.html"),
            ("filename=foo.html", "foo.html"),
            ("attachment; filename=\"foo.html", "foo.html"),
            ("attachment; filename=foo bar.html", "foo bar.html"),
            ("attachment; filename=\"../../etc/passwd\"", "passwd"),
            ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
            ("attachment; filename=\"..\\\\..\\\\evil.exe\"", "evil.exe"),
            ("attachment; filename*=utf8''foo-%c3%a4.html", "foo-ä.html"),
            // As browsers read them.
            ("attachment; filename=\"foo%20bar.html\"", "foo bar.html"),
            ("attachment; filename=\"%E4%BD%A0%E5%A5%BD.pdf\"", "你好.pdf"),
            ("attachment; filename=\"100%.txt\"", "100%.txt"), ("attachment; filename=\"a%E4b.txt\"", "a%E4b.txt"),
            ("attachment; filename=\"utf-8''foo-%c3%a4.html\"", "foo-ä.html"),
            ("attachment; filename=UTF8''foo-%c3%a4.html", "foo-ä.html"),
            ("attachment; filename=\"it's fine's.txt\"", "it's fine's.txt"),
            ("attachment; filename=\"=?UTF-8?B?w6TDtsO8LnR4dA==?=\"", "äöü.txt"),
            ("attachment; filename=\"=?utf-8?q?foo_=C3=A4.html?=\"", "foo ä.html"),
            ("attachment; filename=\"=?ISO-8859-1?Q?foo-=E4.html?=\"", "foo-ä.html"),
            ("attachment; filename=\"=?UTF-8?Q?=C3?= =?UTF-8?Q?=A4.txt?=\"", "ä.txt"),
            ("attachment; filename=\"=?UTF-8*en?Q?a?= =?ISO-8859-1?Q?b?= c.txt\"", "ab c.txt"),
            ("attachment; filename=\"=?x-none?Q?a.txt?=\"", "=?x-none?Q?a.txt?="),
            ("attachment; filename=\"C:\\dir\\file.txt\"", "file.txt"),
            ("attachment; filename=\"C:\\\\dir\\\\file.txt\"", "file.txt"),
            ("attachment; filename=\"\\\\server\\share\\file.txt\"", "file.txt"),
            ("attachment; filename=C:\\dir\\file.txt", "file.txt"),
            ("attachment; filename=\"\\\\foo.html\"", "foo.html"),
            ("attachment;;; ; filename=foo.html", "foo.html"),
            ("attachment; filename=\"-rf\"", "rf"), ("attachment; filename*=UTF-8''%2D%2drf%2E", "rf"),
        ])
    func contentDispositionSuggestsItsFileName(value: String, name: String) {
        #expect(FileName.fromContentDisposition(value) == name)
    }

    @Test(
        arguments: [
            "", "attachment", "inline;", "attachment; filename", "attachment; filename=", "attachment; filename=\"\"",
            "attachment; filename=\"..\"", "attachment; xfilename=foo.html", "attachment; filename*=foo.html", "=",
            "=;=\"",
            "attachment; filename*0=a; filename*1=b", "attachment; filename=\"\\",
        ])
    func contentDispositionWithoutAUsableNameSuggestsNone(value: String) {
        #expect(FileName.fromContentDisposition(value) == nil)
    }

    @Test func anyContentDispositionGivesAHarmlessNameWithoutACrash() {
        var generator = SplitMix64(seed: 3)
        let pieces = [
            "attachment", ";", "=", "\"", "\\", "filename", "filename*", "UTF-8", "'", "%", "%c3", "a", ".", "/", " ",
            "\t", "ä",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...20, using: &generator)
            let value = (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)] }.joined()
            guard let name = FileName.fromContentDisposition(value) else { continue }
            #expect(FileName.sanitised(name) == name, "\(value)")
        }
    }

    @Test(
        arguments: [
            ("/dir/file.iso", "file.iso"), ("/dir/file.iso?x=/y", "file.iso"), ("/", "download"), ("/dir/", "download"),
            ("/a%20b%C3%BC.txt", "a bü.txt"), ("/%2e%2e%2fpasswd", "passwd"), ("/..", "download"), ("/%00", "download"),
            ("/100%", "100%"), ("/%zz%4", "%zz%4"), ("/%E4", "\u{FFFD}"), ("/.hidden", "hidden"), ("/a+b", "a+b"),
            ("/%41", "A"), ("/-rf", "rf"), ("/%2Drf", "rf"), ("/~ada", "ada"), ("/--", "download"),
        ])
    func aURLSuggestsItsLastPathComponent(target: String, name: String) {
        let url = HTTPURL(scheme: .https, host: "example.org", port: 443, target: target)
        #expect(FileName.suggested(disposition: nil, urls: [url]) == name)
    }

    @Test func theServersNameComesFirstThenThatOfTheFirstURLThatHasOne() {
        func url(_ target: String) -> HTTPURL {
            HTTPURL(scheme: .https, host: "example.org", port: 443, target: target)
        }
        let (last, first) = (url("/v1.2/tool-1.2.tgz?t=1"), url("/latest"))
        func name(_ disposition: String?, _ urls: [HTTPURL]) -> String {
            FileName.suggested(disposition: disposition, urls: urls)
        }
        #expect(name("attachment; filename=a.tgz", [last, first]) == "a.tgz")
        #expect(name("attachment", [last, first]) == "tool-1.2.tgz")
        #expect(name(nil, [first]) == "latest")
        #expect(name(nil, [url("/"), first]) == "latest")
        #expect(name(nil, [url("/.."), url("/")]) == "download")
    }
}
