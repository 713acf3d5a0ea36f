/// The options of `add` and `update` in the place of the protocol's fields, in messages of the daemon.
///
/// A field that no option sets, or one of several options, keeps its name. So does `retry_failed`: `add` sets it unless it
/// is told not to.
enum FieldOptions {
    /// Options that have another name than their field.
    private static let others = [
        "output": "-o", "dir": "-d", "source": "-T", "method": "-X", "headers": "-H", "params": "--param",
        "parts": "-F", "body.file": "--data-binary", "body.json": "--json-body", "accept_types": "--accept-type",
        "max_recv_rate": "--limit-rate", "max_send_rate": "--limit-send", "min_recv_rate": "--min-rate",
        "min_recv_time": "--min-rate-time", "client_cert": "--cert", "cookie_list": "-b", "ca_file": "--cacert",
        "max_redirects": "--max-redirs", "allow_metered": "--metered",
    ]
    /// Fields whose option has the same name, with `-` for `_`.
    private static let same: Set = [
        "kind", "upload", "spool", "chunk_size", "creation_with_upload", "upload_parts", "on_conflict", "mode",
        "remote_time", "allow_hidden", "checksum", "finalize", "post_process", "on_complete", "on_error", "on_end",
        "priority", "group", "slot", "label", "owner", "client_key", "after", "after_batch", "after_group",
        "not_before", "window", "deadline", "max_retries", "retry_for", "retry_non_idempotent", "segments", "range",
        "max_size", "resume", "profile", "policy", "redirect", "allow_downgrade", "path_as_is", "connect_timeout",
        "idle_timeout", "total_timeout", "accept_status", "reject_html", "announced_digests", "parse", "strip_nulls",
        "proxy", "cache_policy", "cache_key", "store", "interface", "resolve", "connect_to", "unix_socket",
        "progress_interval", "meta",
    ]

    /// All options that messages may name.
    static var all: [String] { others.values + same.map { name($0) } }

    /// The option that sets a field such as `output`, `parts[0].file` or `tasks[2].dir`; nil if there is no single one.
    static func option(_ path: some StringProtocol) -> String? {
        let parts = String(path).split(separator: ".").map { part in part.prefix { $0 != "[" } }.drop { $0 == "tasks" }
        guard let first = parts.first.map({ String($0) }) else { return nil }
        return others[parts.joined(separator: ".")] ?? others[first] ?? (same.contains(first) ? name(first) : nil)
    }

    /// The text with options in place of fields of several words, such as `retry_non_idempotent`.
    static func named(_ text: String) -> String {
        guard text.contains("_") else { return text }
        let marks: Set<Character> = [",", ";", ".", ":", "(", ")"]
        return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let field = word.drop { marks.contains($0) }.prefix { !marks.contains($0) }
            guard field.contains("_"), let option = Self.option(field), !text.contains(option) else {
                return String(word)
            }
            return String(word).replacing(field, with: option)
        }.joined(separator: " ")
    }

    private static func name(_ field: String) -> String { "--" + field.replacing("_", with: "-") }
}

extension CommandFailure {
    /// The daemon's refusal of a task with options in place of fields.
    ///
    /// - Parameter typed: the options that were typed, for fields that several options set.
    func namingOptions(typed: [String: String] = [:]) -> CommandFailure {
        guard status == .refused else { return self }
        var text = message
        if let colon = text.firstRange(of: ": ") {
            // The number of the task is read by `naming`.
            let list = text.hasPrefix("tasks[") ? text.firstRange(of: "].")?.upperBound : nil
            let start = list ?? text.startIndex
            if start < colon.lowerBound {
                let place = start..<colon.lowerBound
                if let option = typed[String(text[place])] ?? FieldOptions.option(text[place]) {
                    text.replaceSubrange(place, with: option)
                }
            }
        }
        return CommandFailure(status, FieldOptions.named(text.replacing("task.result", with: "`xferctl result`")))
    }
}
