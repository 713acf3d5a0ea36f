import Testing
import XferCore
import XferModel
import XferTestSupport

/// The cookie tests of the IETF's http-state group (`tests/data/parser`), by their numbers: one page sets cookies,
/// another gets some of them.
@Suite struct HTTPStateConformanceTests {
    struct Subject: Sendable {
        /// `Set-Cookie` fields in order, of `http://www.field.test/set`.
        var set: [String]
        /// The `Cookie` field that is sent then; nil is none.
        var sent: String?
        var host: String
        var path: String

        init(_ set: String..., sent: String?, to host: String = "www.field.test", at path: String = "/got") {
            (self.set, self.sent, self.host, self.path) = (set, sent, host, path)
        }
    }

    private static let huge = String(repeating: "h", count: 3000)

    static let numbers: [ConformanceCase<Subject>] = [
        .same("http-state 0001", Subject("tea=green", sent: "tea=green")),
        .same("http-state 0002", Subject("tea=green; Expires=Tue, 18 Nov 2036 06:07:08 GMT", sent: "tea=green")),
        .same(
            "http-state 0003",
            Subject(
                "tea=green; Expires=Mon, 18 Nov 1996 06:07:08 GMT", "cup=blue; Expires=Tue, 18 Nov 2036 06:07:08 GMT",
                sent: "cup=blue")),
        .same("http-state 0004", Subject("tea", sent: nil)),
        .same("http-state 0005", Subject("tea=green; max-age=900;", sent: "tea=green")),
        .same("http-state 0006", Subject("tea=green; max-age=0;", sent: nil)),
        .same("http-state 0007", Subject("tea=green; version=1;", sent: "tea=green")),
        .same("http-state 0008", Subject("tea=green; version=250;", sent: "tea=green")),
        .same("http-state 0009", Subject("tea=green; sugar=2;", sent: "tea=green")),
        .same("http-state 0010", Subject("tea=green; secure;", sent: nil)),
        .same("http-state 0011", Subject(#"tea=green; note="two or so";"#, sent: "tea=green")),
        .same("http-state 0012", Subject(#"tea=green; note="the end""#, sent: "tea=green")),
        .same("http-state 0013", Subject("tea=green", "tea=black", sent: "tea=black")),
        .same("http-state 0014", Subject("tea1=green", "tea2=black", sent: "tea1=green; tea2=black")),
        .same("http-state 0015", Subject("c=1", "d=2", sent: "c=1; d=2")),
        .same("http-state 0016", Subject("d=2", "c=1", sent: "d=2; c=1")),
        .same("http-state 0017", Subject("d=2, c=1", sent: "d=2, c=1")),
        .same("http-state 0018", Subject("d=2; tea=green, c=1", sent: "d=2")),
        .same("http-state 0019", Subject("tea=green;max-age=900, cup=blue;path=/", sent: "tea=green")),
        .same("http-state 0020", Subject("c=1", "=", "d=2", sent: "c=1; d=2")),
        .same("http-state 0021", Subject("c=1", "=9", "d=2", sent: "c=1; d=2")),
        .same("http-state 0022", Subject("c=1", "e=", "d=2", sent: "c=1; e=; d=2")),
        .same("http-state 0023", Subject("tea", "", sent: nil)),
        .same("http-state 0024", Subject("tea", "=", sent: nil)),
        .same("http-state 0025", Subject("tea", "; cup", sent: nil)),
        .same("http-state 0026", Subject("tea", "   ", sent: nil)),
        .same("http-state 0027", Subject("tea", "cup", sent: nil)),
        .same("http-state 0028", Subject("tea", "\t", sent: nil)),
    ]

    static let attributes: [ConformanceCase<Subject>] = [
        .same("http-state attribute0001", Subject("k=v; Secure", sent: nil)),
        .same("http-state attribute0002", Subject("k=v; sEcUrE", sent: nil)),
        .same("http-state attribute0003", Subject(#"k=v; "Secure""#, sent: "k=v")),
        .same("http-state attribute0004", Subject("k=v; Secure=", sent: nil)),
        .same("http-state attribute0005", Subject("k=v; Secure=no", sent: nil)),
        .same("http-state attribute0006", Subject("k=v; Secure perhaps", sent: "k=v")),
        .same("http-state attribute0007", Subject("k=v; Secure =no", sent: nil)),
        .same("http-state attribute0008", Subject("k=v; Secure= no", sent: nil)),
        .same("http-state attribute0009", Subject("k=v; Secure; odd", sent: nil)),
        .same("http-state attribute0010", Subject("k=v; Secure;odd", sent: nil)),
        .same("http-state attribute0011", Subject("k=v; Secure   ; odd", sent: nil)),
        .same("http-state attribute0012", Subject("k=v;            Secure", sent: nil)),
        .same("http-state attribute0013", Subject("k=v;      Secure   ;", sent: nil)),
        .same("http-state attribute0014", Subject("k=v; Path", sent: "k=v")),
        .same("http-state attribute0015", Subject("k=v; Path=", sent: "k=v")),
        .same("http-state attribute0016", Subject("k=v; Path=/", sent: "k=v")),
        .same("http-state attribute0017", Subject("k=v; Path=/far", sent: nil)),
        .same("http-state attribute0018", Subject("k=v; Path   =/far", sent: nil)),
        .same("http-state attribute0019", Subject("k=v; Path=   /far", sent: nil)),
        .same("http-state attribute0020", Subject("k=v; Path=/far   ; odd", sent: nil)),
        .same("http-state attribute0021", Subject("k=v; Path=/far; Path=/", sent: "k=v")),
        .same("http-state attribute0022", Subject("k=v; Path=/; Path=/far", sent: nil)),
        .same("http-state attribute0023", Subject("k=v; Path=/far; Path=/got", sent: "k=v")),
        .same("http-state attribute0024", Subject("k=v; Path=/got; Path=/far", sent: nil)),
        .same("http-state attribute0025", Subject("k=v; odd; Secure", sent: nil)),
        .same("http-state attribute0026", Subject(#"k=v; odd="x;y"; Secure"#, sent: nil)),
    ]

    static let charsets: [ConformanceCase<Subject>] = [
        .same("http-state charset0001", Subject("k=Grüße·мир·茶", sent: "k=Grüße·мир·茶")),
        .same("http-state charset0002", Subject("茶·мир=Grüße", sent: "茶·мир=Grüße")),
        .same("http-state charset0003", Subject("茶=Grüße; мир", sent: "茶=Grüße")),
        .same("http-state charset0004", Subject(#"k="茶·мир""#, sent: #"k="茶·мир""#)),
        .same("http-state comma0001", Subject("k=v, m=w", sent: "k=v, m=w")),
        .same("http-state comma0002", Subject(#"k="v, m=w""#, sent: #"k="v, m=w""#)),
        .same("http-state comma0003", Subject("k=v; m,n=w", sent: "k=v")),
        .same("http-state comma0004", Subject("k=v; m=w,x", sent: "k=v")),
        .same("http-state comma0005", Subject("k=v; Max-Age=9,900", sent: "k=v")),
        .same("http-state comma0006", Subject("k=v; Expires=Tue, 18 Nov 2036 06:07:08 GMT", sent: "k=v")),
        .same("http-state comma0007", Subject("k=v; Expires=Tue 18 Nov 2036 06:07:08 GMT, m=w", sent: "k=v")),
        .same("http-state value0001", Subject("k=  v", sent: "k=v")),
        .same("http-state value0002", Subject(#"k="v""#, sent: #"k="v""#)),
        .same("http-state value0003", Subject(#"k="  v ""#, sent: #"k="  v ""#)),
        .same("http-state value0004", Subject(#"k="v;w""#, sent: #"k="v"#)),
        .same("http-state value0005", Subject(#"k="v=w""#, sent: #"k="v=w""#)),
        .same("http-state value0006", Subject("\tk\t=\tv\t \t;\tod", sent: "k=v")),
    ]

    static let chromium: [ConformanceCase<Subject>] = [
        .same("http-state chromium0001", Subject("m=1", sent: "m=1")),
        .same("http-state chromium0002", Subject(#"mIx="in ner "   ;"#, sent: #"mIx="in ner ""#)),
        .same("http-state chromium0003", Subject(#"mIx="in ner " ;"#, sent: #"mIx="in ner ""#)),
        .same("http-state chromium0004", Subject(#"mIx="in;ner" ; ;"#, sent: #"mIx="in"#)),
        .same("http-state chromium0005", Subject(#"mIx="in ;"#, sent: #"mIx="in"#)),
        .same("http-state chromium0006", Subject(#"mIx="in "   "ner"  ;"#, sent: #"mIx="in "   "ner""#)),
        .same("http-state chromium0007", Subject(#"mIx="in "   "ner" ;"#, sent: #"mIx="in "   "ner""#)),
        .same("http-state chromium0008", Subject(#"mIx=I"N ;"#, sent: #"mIx=I"N"#)),
        .same("http-state chromium0009", Subject("LOUD; path=/;", sent: nil)),
        .same("http-state chromium0010", Subject(#""LO\"UD"; path=/;"#, sent: nil)),
        .same("http-state chromium0011", Subject(#"m="N"#, sent: #"m="N"#)),
        .same("http-state chromium0012", Subject("=LOUD", sent: nil)),
        .same("http-state chromium0013", Subject("LOUD=;  path = /", sent: "LOUD=")),
        .same("http-state chromium0014", Subject("  M  = NO  ;odd;;;   end", sent: "M=NO")),
        .same("http-state chromium0015", Subject("  M=== NO  ;odd;;;   end", sent: "M=== NO")),
        .same(
            "http-state chromium0016",
            Subject(
                #"k="Zm9vYmFyMTIz"  ; expires=Tue, 18 Nov 2036 06:07:08 GMT ; path=/  ;  "#, sent: #"k="Zm9vYmFyMTIz""#)
        ),
        .same(
            "http-state chromium0017",
            Subject("k=Zm9vYmFyMTIz  ; expires=Tue, 18 Nov 2036 06:07:08 GMT ; path=/  ;  ", sent: "k=Zm9vYmFyMTIz")),
        .same("http-state chromium0018", Subject("    ", sent: nil)),
        .same("http-state chromium0019", Subject("m=\(huge)", sent: "m=\(huge)")),
        .same("http-state chromium0021", Subject("", sent: nil)),
    ]

    static let domains: [ConformanceCase<Subject>] = [
        .same("http-state domain0001", Subject("k=v; domain=www.field.test", sent: "k=v")),
        .same("http-state domain0002", Subject("k=v; domain=www.field.test", sent: nil, to: "api.field.test")),
        .same("http-state domain0003", Subject("k=v; domain=.www.field.test", sent: "k=v")),
        .same("http-state domain0004", Subject("k=v; domain=www.field.test", sent: "k=v", to: "a.www.field.test")),
        .same("http-state domain0005", Subject("k=v; domain=.www.field.test", sent: "k=v", to: "a.www.field.test")),
        .same("http-state domain0006", Subject("k=v; domain=.www.field.test", sent: nil, to: "api.field.test")),
        .same("http-state domain0007", Subject("k=v; domain=api.field.test", sent: nil, to: "api.field.test")),
        .same("http-state domain0008", Subject("k=v; domain=.field.test", sent: "k=v")),
        .same("http-state domain0009", Subject("k=v; domain=field.test", sent: "k=v")),
        .same("http-state domain0010", Subject("k=v; domain=..www.field.test", sent: nil)),
        .same("http-state domain0011", Subject("k=v; domain=www..field.test", sent: nil)),
        .same("http-state domain0012", Subject("k=v; domain=  .www.field.test", sent: "k=v")),
        .same("http-state domain0013", Subject("k=v; domain=  .  www.field.test", sent: nil)),
        .same("http-state domain0014", Subject("k=v; domain=www.field.test.", sent: nil)),
        .same("http-state domain0015", Subject("k=v; domain=www.field.test..", sent: nil)),
        .same("http-state domain0016", Subject("k=v; domain=www.field.test .", sent: nil)),
        .same("http-state domain0017", Subject("k=v; domain=.test", sent: nil)),
        .same("http-state domain0018", Subject("k=v; domain=.test.", sent: nil)),
        .same(
            "http-state domain0019",
            Subject("k=v; domain=www.field.test", "m=w; domain=.www.field.test", sent: "k=v; m=w")),
        .same(
            "http-state domain0020",
            Subject("m=w; domain=.www.field.test", "k=v; domain=www.field.test", sent: "m=w; k=v")),
        .same("http-state domain0021", Subject(#"k=v; domain="www.field.test""#, sent: nil)),
        .same(
            "http-state domain0022", Subject("k=; domain=www.field.test", "m=w; domain=.field.test", sent: "k=; m=w")),
        .same(
            "http-state domain0023", Subject("m=w; domain=.field.test", "k=; domain=www.field.test", sent: "m=w; k=")),
        .same(
            "http-state domain0024",
            Subject("k=v; domain=.field.test; domain=www.field.test", sent: nil, to: "api.field.test")),
        .same(
            "http-state domain0025",
            Subject("k=v; domain=www.field.test; domain=.field.test", sent: "k=v", to: "api.field.test")),
        .same("http-state domain0026", Subject("k=v; domain=www.FiElD.test", sent: "k=v")),
        .same("http-state domain0027", Subject("k=v; domain=www.field.test:8080", sent: nil)),
        .same("http-state domain0028", Subject("k=v; domain=a.www.field.test", sent: nil, to: "a.www.field.test")),
        .same("http-state domain0029", Subject("k=v", sent: nil, to: "a.www.field.test")),
        .same(
            "http-state domain0031",
            Subject("k=v; domain=www.field.test; domain=.field.test", sent: "k=v", to: "api.field.test")),
        .same("http-state domain0033", Subject("k=v; domain=www.field.test", sent: "k=v", to: "wWw.FiElD.test")),
        .same("http-state domain0034", Subject("k=v; domain=www.field.test; domain=www.field.example", sent: nil)),
        .same("http-state domain0035", Subject("k=v; domain=www.field.example; domain=www.field.test", sent: "k=v")),
        .same(
            "http-state domain0036",
            Subject("k=v; domain=www.field.test; domain=www.field.example; domain=www.field.test", sent: "k=v")),
        .same(
            "http-state domain0037",
            Subject("k=v; domain=www.field.example; domain=www.field.test; domain=www.field.example", sent: nil)),
        .same("http-state domain0038", Subject("k=v; domain=www.field.test; domain=www.field.test", sent: "k=v")),
        .same("http-state domain0039", Subject("k=v; domain=www.field.test; domain=field.test", sent: "k=v")),
        .same("http-state domain0040", Subject("k=v; domain=field.test; domain=www.field.test", sent: "k=v")),
        .same("http-state domain0041", Subject("k=v; domain=.api.field.test", sent: nil, to: "api.field.test")),
        .same("http-state domain0042", Subject("k=v; domain=.a.www.field.test", sent: nil, to: "a.www.field.test")),
        .same("http-state optional-domain0030", Subject("k=v; domain=", sent: "k=v")),
        .same("http-state optional-domain0041", Subject("k=v; domain=field.test; domain=", sent: "k=v")),
        .same("http-state optional-domain0042", Subject("k=v; domain=far.field.test; domain=", sent: nil)),
        .same(
            "http-state optional-domain0043",
            Subject("k=v; domain=far.field.test; domain=", sent: nil, to: "a.www.field.test")),
    ]

    static let mozilla: [ConformanceCase<Subject>] = [
        .same("http-state mozilla0001", Subject("k=v; max-age=-1", sent: nil)),
        .same("http-state mozilla0002", Subject("k=v; max-age=0", sent: nil)),
        .same("http-state mozilla0003", Subject("k=v; expires=Mon, 18 Nov 1996 06:07:08 GMT", sent: nil)),
        .same("http-state mozilla0004", Subject("k=v; max-age=30", sent: "k=v")),
        .same("http-state mozilla0005", Subject("k=v; max-age=-30", sent: nil)),
        .same("http-state mozilla0006", Subject("k=v; max-age=30", sent: "k=v")),
        .same("http-state mozilla0007", Subject("k=v; expires=Mon, 18 Nov 1996 06:07:08 GMT", sent: nil)),
        .same("http-state mozilla0008", Subject("k=v; max-age=30", "m=v; max-age=30", sent: "k=v; m=v")),
        .same("http-state mozilla0009", Subject("k=v; max-age=30", "m=v; max-age=30", "k=w; max-age=0", sent: "m=v")),
        .same(
            "http-state mozilla0010",
            Subject("k=v; max-age=30", "m=v; max-age=30", "k=w; max-age=0", "n=x; max-age=0", sent: "m=v")),
        .same(
            "http-state mozilla0011",
            Subject("k=v; domain=.else.test; ;; ;=; ,,, ===,x,=; hey! max-age=30;=;;", sent: nil)),
        .same(
            "http-state mozilla0012",
            Subject(#"k="in! = ner;odd\";" more; max-age=5"#, "lone; max-age=1.5,", sent: #"k="in! = ner"#)),
        .same("http-state mozilla0013", Subject("k=gone; max-age=0", "lone; max-age=0", sent: nil)),
        .same("http-state mozilla0014", Subject("one", sent: nil)),
        .same("http-state mozilla0015", Subject("one", "two", sent: nil)),
        .same("http-state mozilla0016", Subject("one", "two", " =three", sent: nil)),
        .same("http-state mozilla0017", Subject("one", "two", " =three", "k=one", sent: "k=one")),
    ]

    static let names: [ConformanceCase<Subject>] = [
        .same("http-state name0001", Subject("b=v", sent: "b=v")),
        .same("http-state name0002", Subject("7=v", sent: "7=v")),
        .same("http-state name0003", Subject("$=v", sent: "$=v")),
        .same("http-state name0004", Subject("!b=v", sent: "!b=v")),
        .same("http-state name0005", Subject("@b=v", sent: "@b=v")),
        .same("http-state name0006", Subject("#b=v", sent: "#b=v")),
        .same("http-state name0007", Subject("$b=v", sent: "$b=v")),
        .same("http-state name0008", Subject("%b=v", sent: "%b=v")),
        .same("http-state name0009", Subject("^b=v", sent: "^b=v")),
        .same("http-state name0010", Subject("&b=v", sent: "&b=v")),
        .same("http-state name0011", Subject("*b=v", sent: "*b=v")),
        .same("http-state name0012", Subject("(b=v", sent: "(b=v")),
        .same("http-state name0013", Subject(")b=v", sent: ")b=v")),
        .same("http-state name0014", Subject("-b=v", sent: "-b=v")),
        .same("http-state name0015", Subject("_b=v", sent: "_b=v")),
        .same("http-state name0016", Subject("+=v", sent: "+=v")),
        .same("http-state name0017", Subject("=b=v", sent: nil)),
        .same("http-state name0018", Subject("b =v", sent: "b=v")),
        .same("http-state name0019", Subject(#""b=v"#, sent: #""b=v"#)),
        .same("http-state name0020", Subject(#""b=w"=v"#, sent: #""b=w"=v"#)),
        .same("http-state name0021", Subject(#""b=w"=v"#, #""b=x"#, sent: #""b=x"#)),
        .same("http-state name0022", Subject("   tea=v", sent: "tea=v")),
        .same("http-state name0023", Subject("tea;b=v", sent: nil)),
        .same("http-state name0024", Subject("$Version=1; tea=v", sent: "$Version=1")),
        .same("http-state name0025", Subject("===b=v", sent: nil)),
        .same("http-state name0026", Subject("tea=v    ", sent: "tea=v")),
        .same("http-state name0027", Subject("tea=v    ;", sent: "tea=v")),
        .same("http-state name0028", Subject("=b", sent: nil)),
        .same("http-state name0029", Subject("=", sent: nil)),
        .same("http-state name0030", Subject("tea cup=v", sent: "tea cup=v")),
        .same("http-state name0031", Subject(#""tea;b"=v"#, sent: nil)),
        .same("http-state name0032", Subject(#""tea\"b;c"=v"#, sent: nil)),
        .same("http-state name0033", Subject("=tea=v", "lone", sent: nil)),
    ]

    static let paths: [ConformanceCase<Subject>] = [
        .same(
            "http-state ordering0001",
            Subject(
                "k=0;", "k=1; path=/got", "k=2; path=/", "k=3; path=/far", "k=4; domain=.field.test",
                "k=5; domain=.field.test; path=/got/a", sent: "k=5; k=1; k=2; k=4", at: "/got/a/b")),
        .same("http-state path0001", Subject("c=1; path=/", "d=2; path=/got", sent: "d=2; c=1")),
        .same("http-state path0002", Subject("c=1; path=/got", "d=2; path=/", sent: "c=1; d=2")),
        .same("http-state path0003", Subject("d=2; path=/", "c=1; path=/got", sent: "c=1; d=2")),
        .same("http-state path0004", Subject("d=2; path=/got", "c=1; path=/", sent: "d=2; c=1")),
        .same("http-state path0005", Subject("k=v; path=/got/a", sent: nil)),
        .same("http-state path0006", Subject("k=v", "k=w; path=/got/a", sent: "k=v")),
        .same("http-state path0007", Subject("k=v; path=/got/a", sent: "k=v", at: "/got/a")),
        .same("http-state path0008", Subject("k=v; path=/got/a", sent: nil, at: "/got/b")),
        .same("http-state path0009", Subject("k=v; path=/got/a/c", sent: nil, at: "/got/a")),
        .same("http-state path0010", Subject("k=v; path=/got/a/c", sent: "k=v", at: "/got/a/c")),
        .same("http-state path0011", Subject("k=v; path=/got/a/c", sent: nil, at: "/got/b/c")),
        .same("http-state path0012", Subject("k=v; path=/got/a/c", sent: nil, at: "/got/a/d")),
        .same("http-state path0013", Subject("k=v; path=/got/a/c/", sent: nil, at: "/got/a/d")),
        .same("http-state path0014", Subject("k=v; path=/got/a/c/", sent: nil, at: "/got/a/c")),
        .same("http-state path0015", Subject("k=v; path=/got/a/c/", sent: "k=v", at: "/got/a/c/")),
        .same("http-state path0016", Subject("k=v; path=/got/a/", sent: "k=v", at: "/got/a/c")),
        .same("http-state path0017", Subject("k=v; path=/got/a/", sent: "k=v", at: "/got/a//c")),
        .same("http-state path0018", Subject("k=v; path=/got/a/", sent: nil, at: "/got/ac")),
        .same("http-state path0019", Subject("k=v; path", sent: "k=v")),
        .same("http-state path0020", Subject("k=v; path=", sent: "k=v")),
        .same("http-state path0021", Subject("k=v; path=/", sent: "k=v")),
        .same("http-state path0022", Subject("k=v; path= /", sent: "k=v")),
        .same("http-state path0023", Subject("k=v; Path=/GOT", sent: nil)),
        .same("http-state path0024", Subject("k=v; path=/got/a/c?", sent: nil, at: "/got/a/c")),
        .same("http-state path0025", Subject("k=v; path=/got/a/c#", sent: nil, at: "/got/a/c")),
        .same("http-state path0026", Subject("k=v; path=/got/a/c;", sent: "k=v", at: "/got/a/c")),
        .same("http-state path0027", Subject(#"k=v; path="/got/a/c;""#, sent: "k=v", at: "/got/a/c")),
        .same("http-state path0028", Subject("k=v; path=/got/%61/c", sent: nil, at: "/got/a/c")),
        .same("http-state path0029", Subject("c=1; \tpath\t=\t/got\t", "d=2; \tpath\t=\t/far\t", sent: "c=1")),
        .same("http-state path0030", Subject("k=v; path=/far; path=", sent: "k=v")),
        .same("http-state path0031", Subject("k=v; path=; path=/far", sent: nil)),
        .same("http-state path0032", Subject("k=v; path=/got", "k=w; path=/got/", sent: "k=w; k=v", at: "/got/far")),
    ]

    static let all: [ConformanceCase<Subject>] = [
        numbers, attributes, charsets, chromium, domains, mozilla, names, paths,
    ].flatMap { $0 }

    @Test(arguments: all)
    func theCookiesAreSentThatTheCaseExpects(test: ConformanceCase<Subject>) {
        let subject = test.subject
        let now: Int64 = 1_800_000_000
        let page = HTTPURL(scheme: .http, host: "www.field.test", port: 80, target: "/set")
        var cookies = CookieStorage()
        for value in subject.set {
            cookies.receive([HeaderField(name: "Set-Cookie", value: value)], from: page, at: now) {
                !$0.contains(".")
            }
        }
        // Hosts are in lower case once a URL is parsed.
        let next = HTTPURL(scheme: .http, host: subject.host.lowercased(), port: 80, target: subject.path)
        #expect(cookies.field(for: next, at: now) == subject.sent)
    }
}
