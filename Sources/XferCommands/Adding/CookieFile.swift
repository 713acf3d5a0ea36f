import XferModel
import XferProtocol

/// Cookies in the Netscape format, as browsers, curl and yt-dlp write them.
enum CookieFile {
    /// Reads the file of `-b`, or standard input for `-`.
    static func read(_ path: String) throws(CommandFailure) -> [CookieRecord] {
        let cookies = try cookies(in: try FileText.read(path, option: "-b"), option: "-b", path: path)
        guard !cookies.isEmpty else { throw .usage("-b: \(SafeText.sanitised(path)) has no cookies") }
        return cookies
    }

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
