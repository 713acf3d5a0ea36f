import XferModel

/// Why something failed, in the words that say most to a person.
enum FailureText {
    /// libcurl's way to repeat OpenSSL's error queue: `OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number`.
    private static var tlsPrefix: Regex<Substring> {
        #/(?:(?:OpenSSL|LibreSSL|BoringSSL|AWS-LC|quictls)[^:]*|TLS connect error): error:[0-9A-Fa-f]+:[^:]*:[^:]*:/#
    }
    private static var connectPrefix: Regex<Substring> {
        #/Failed to connect to .{1,300} port [0-9]{1,5} (?:via .{1,300} )?after [0-9]{1,10} ms: /#
    }

    /// A message without a library's own notation.
    static func readable(_ message: String) -> String {
        guard message.contains("error:") else { return message }
        return message.replacing(tlsPrefix, with: "TLS: ")
    }

    /// Whether the two sides could not agree about TLS.
    static func isAboutTLS(_ message: String) -> Bool { readable(message).contains("TLS: ") }

    /// The message for a note beside the task: without the host, and without how long it took. The reason in words where
    /// there is no message.
    static func cause(_ failure: TaskSummary.Failure) -> String {
        var text = readable(failure.message)
        if text.contains("Failed to connect") { text = text.replacing(connectPrefix, with: "") }
        // The host's name tells nothing beside the task, whose URL has it.
        if let host = failure.host, text.hasPrefix("\(host): ") { text.removeFirst(host.count + 2) }
        return text.isEmpty ? WaitText.words(failure.reason) : SafeText.sanitised(text)
    }
}
