import JSONRPC

/// The web page: its files are part of the program.
enum WebPage {
    private struct File: Sendable {
        var path: String
        var contentType: String
        var bytes: [UInt8]
    }

    private static let files = [
        File(path: "/", contentType: "text/html; charset=utf-8", bytes: PackageResources.index_html)
    ]

    static let routes = files.map { file in
        // Revalidated each time, so that a page of the last version never calls the next one's daemon.
        HTTPRoute(file.path) { _, _ in
            HTTPAnswer(
                contentType: file.contentType, headers: [("Cache-Control", "no-cache")], body: .bytes(file.bytes))
        }
    }
}
