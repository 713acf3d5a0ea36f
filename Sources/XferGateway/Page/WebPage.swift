import JSONRPC

/// The web page: its files are part of the program.
enum WebPage {
    /// The file that `/` answers.
    static let start = "index.html"

    /// All files of `Web`, which a test compares with that folder.
    static let files: [(name: String, bytes: [UInt8])] = [
        ("add-dialog.js", PackageResources.add_dialog_js),
        ("chart.js", PackageResources.chart_js),
        ("commands.js", PackageResources.commands_js),
        ("details.js", PackageResources.details_js),
        ("dom.js", PackageResources.dom_js),
        ("dragging.js", PackageResources.dragging_js),
        ("events.js", PackageResources.events_js),
        ("format.js", PackageResources.format_js),
        ("groups-dialog.js", PackageResources.groups_dialog_js),
        ("icon.svg", PackageResources.icon_svg),
        ("index.html", PackageResources.index_html),
        ("keyboard.js", PackageResources.keyboard_js),
        ("limits-dialog.js", PackageResources.limits_dialog_js),
        ("main.js", PackageResources.main_js),
        ("nodes-dialog.js", PackageResources.nodes_dialog_js),
        ("notices.js", PackageResources.notices_js),
        ("page.css", PackageResources.page_css),
        ("rates.js", PackageResources.rates_js),
        ("rpc.js", PackageResources.rpc_js),
        ("selection.js", PackageResources.selection_js),
        ("session.js", PackageResources.session_js),
        ("sse.js", PackageResources.sse_js),
        ("summary.js", PackageResources.summary_js),
        ("task-list.js", PackageResources.task_list_js),
        ("task-order.js", PackageResources.task_order_js),
        ("task-row.js", PackageResources.task_row_js),
        ("task-store.js", PackageResources.task_store_js),
        ("throttle.js", PackageResources.throttle_js),
        ("time-line.js", PackageResources.time_line_js),
        ("toolbar.js", PackageResources.toolbar_js),
        ("trust-dialog.js", PackageResources.trust_dialog_js),
        ("views.js", PackageResources.views_js),
        ("words.js", PackageResources.words_js),
    ]

    static let routes = files.map { file in
        let type = contentType(of: file.name)
        // Revalidated each time, so that a page of the last version never calls the next one's daemon.
        return HTTPRoute(file.name == start ? "/" : "/web/\(file.name)") { _, _ in
            HTTPAnswer(contentType: type, headers: [("Cache-Control", "no-cache")], body: .bytes(file.bytes))
        }
    }

    private static func contentType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }
}
