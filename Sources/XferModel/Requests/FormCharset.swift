/// An encoding of a form's text, by its preferred MIME name in lower case.
///
/// These are the encodings of the web (encoding.spec.whatwg.org) that have no states and need no byte order.
public enum FormCharset: String, Hashable, Sendable, Codable, CaseIterable {
    case utf8 = "utf-8"
    case ascii = "us-ascii"
    case latin1 = "iso-8859-1"
    case latin2 = "iso-8859-2"
    case latin3 = "iso-8859-3"
    case latin4 = "iso-8859-4"
    case cyrillic = "iso-8859-5"
    case arabic = "iso-8859-6"
    case greek = "iso-8859-7"
    case hebrew = "iso-8859-8"
    case latin5 = "iso-8859-9"
    case latin6 = "iso-8859-10"
    case latin7 = "iso-8859-13"
    case latin8 = "iso-8859-14"
    case latin9 = "iso-8859-15"
    case latin10 = "iso-8859-16"
    case windows1250 = "windows-1250"
    case windows1251 = "windows-1251"
    case windows1252 = "windows-1252"
    case windows1253 = "windows-1253"
    case windows1254 = "windows-1254"
    case windows1255 = "windows-1255"
    case windows1256 = "windows-1256"
    case windows1257 = "windows-1257"
    case windows1258 = "windows-1258"
    case russian = "koi8-r"
    case ukrainian = "koi8-u"
    case shiftJIS = "shift_jis"
    case japanese = "euc-jp"
    case korean = "euc-kr"
    case gbk
    case gb18030
    case big5
}
