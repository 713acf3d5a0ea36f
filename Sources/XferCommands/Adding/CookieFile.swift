import XferModel
import XferProtocol

/// Cookies in the Netscape format, as browsers, curl and yt-dlp write them.
enum CookieFile {
    /// - Parameters:
    ///   - option: what named the file, for the error.
    ///   - path: the file that has the text, for the error.
    static func cookies(in text: String, option: String, path: String) throws(CommandFailure) -> [CookieRecord] {
        var cookies: [CookieRecord] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let isComment = line.hasPrefix("#") && !line.hasPrefix("#HttpOnly_")
            if isComment || line.allSatisfy(\.isWhitespace) { continue }
            guard let cookie = RequestCookie(netscape: line) else {
                throw .usage(
                    "\(option): line \(index + 1) of \(SafeText.sanitised(path)) is no cookie; expected seven fields with "
                        + "tabs between: domain, TRUE or FALSE, path, TRUE or FALSE, seconds, name, value")
            }
            cookies.append(CookieRecord(cookie))
        }
        return cookies
    }
}
