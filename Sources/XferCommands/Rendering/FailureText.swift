import XferModel

/// The text about a failure that is most useful to a person.
enum FailureText {
    /// The pattern of libcurl's copy of OpenSSL's error queue: `OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong
    /// version number`.
    private static var tlsPrefix: Regex<Substring> {
        #/(?:(?:OpenSSL|LibreSSL|BoringSSL|AWS-LC|quictls)[^:]*|TLS connect error): error:[0-9A-Fa-f]+:[^:]*:[^:]*:/#
    }
    private static var connectPrefix: Regex<Substring> {
        #/Failed to connect to .{1,300} port [0-9]{1,5} (?:via .{1,300} )?after [0-9]{1,10} ms: /#
    }

    /// A message with options in place of fields, and without a library's own notation.
    static func readable(_ message: String) -> String {
        let message = FieldOptions.named(message)
        return message.contains("error:") ? message.replacing(tlsPrefix, with: "TLS: ") : message
    }

    /// A failure in few words, for a note beside the task: the reason's name if that is clear, else the message without
    /// the host and the duration.
    static func cause(_ failure: TaskSummary.Failure) -> String {
        guard FailureReason(rawValue: failure.reason).map(hasManyCauses) ?? true else {
            return WaitText.words(failure.reason)
        }
        var text = readable(failure.message)
        if text.contains("Failed to connect") { text = text.replacing(connectPrefix, with: "") }
        if failure.reason == FailureReason.trustRejected.rawValue { text = verdict(text) }
        // The task's URL has the host.
        if let host = failure.host,
            let prefix = ["\(host): ", "\(host) answered with ", "\(host) answered "].first(where: text.hasPrefix)
        {
            text.removeFirst(prefix.count)
        }
        return text.isEmpty ? WaitText.words(failure.reason) : SafeText.sanitised(text)
    }

    /// `HOST is not trusted by policy "P" version 1: PROBLEM (certificate 0) (OpenSSL error 18); the server showed …`
    /// without the policy, the certificate's place and the keys, which `show` has.
    private static func verdict(_ message: String) -> String {
        guard let start = message.firstMatch(of: #/ is not trusted by policy "[^"]*" version [0-9]+: /#) else {
            return message
        }
        let problem = message[start.range.upperBound...]
        let ends = ["; the server sent ", "; the server showed ", " (OpenSSL error ", " (certificate "]
        return String(
            ends.reduce(problem) { text, end in text.firstRange(of: end).map { text[..<$0.lowerBound] } ?? text })
    }

    private static func hasManyCauses(_ reason: FailureReason) -> Bool {
        switch reason {
        case .httpStatus, .unexpectedAnswer, .connectFailed, .protocolError, .invalidFraming, .trustRejected,
            .diskError, .fileMoveFailed,
            .postProcessFailed, .internalError:
            true
        default: false
        }
    }
}
