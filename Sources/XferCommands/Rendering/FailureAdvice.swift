import XferModel

/// Advice about a failed task for people: one sentence that starts with a verb.
enum FailureAdvice {
    /// The advice for this failure: some reasons have causes that need different remedies.
    ///
    /// - Parameter profile: the task's profile, whose credential it uses if that has one; nil if it has its own.
    static func sentence(_ failure: TaskSummary.Failure, id: Int64, profile: String? = nil) -> String? {
        if let cause = failure.cause { return sentence(cause, failure, id: id) }
        if let sentence = proxySentence(failure, id: id) { return sentence }
        let retry = SuggestedCommand.text("retry \(id)")
        switch FailureReason(rawValue: failure.reason) {
        case .httpStatus?:
            return sentence(status: failure.httpStatus, id: id) ?? sentence(reason: failure.reason, id: id)
        case .authFailed?:
            let own = failure.httpStatus == 401 ? login(failure, id: id) : sentence(reason: failure.reason, id: id)
            guard let profile, let own else { return own }
            return "\(shared(by: profile, id: id)) Otherwise, \(own.prefix(1).lowercased())\(own.dropFirst())"
        case .pinMismatch?:
            return [sentence(reason: failure.reason, id: id), addition(failure, id: id)].compactMap(\.self)
                .joined(separator: " ")
        case .connectFailed? where failure.curlCode == sslConnectError:
            return "Check the scheme and the port of the URL: the server there fails the TLS handshake. Then \(retry)."
        default: return sentence(reason: failure.reason, id: id)
        }
    }

    /// CURLE_SSL_CONNECT_ERROR of libcurl-errors(3).
    private static let sslConnectError: Int32 = 35

    /// The advice about a profile's credential. The task's record does not say whether the profile has one.
    private static func shared(by profile: String, id: Int64) -> String {
        let name = SafeText.sanitised(profile)
        return
            "Check the secret of its profile \"\(name)\", if that has a credential: "
            + "\(SuggestedCommand.text("profile show \(SuggestedCommand.quoted(name))")) shows where it is read from; then "
            + "\(SuggestedCommand.text("retry \(id)"))."
    }

    /// The login that the server accepts, according to its refusal.
    private static func login(_ failure: TaskSummary.Failure, id: Int64) -> String {
        let retry = SuggestedCommand.text("retry \(id)")
        let bearer = SuggestedCommand.text("update \(id) --bearer-file FILE")
        if failure.accepts("basic") {
            return "Log in: \(SuggestedCommand.text("update \(id) -u USER")), then \(retry)."
        }
        if failure.accepts("digest") {
            return "Log in: \(SuggestedCommand.text("update \(id) -u USER --digest")), then \(retry)."
        }
        if failure.accepts("bearer") { return "Give it a token: \(bearer), then \(retry)." }
        let user = SuggestedCommand.text("update \(id) -u USER")
        return "Log in with \(user), or with a token: \(bearer); then \(retry)."
    }

    /// The advice for a status; nil where the reason's own sentence applies.
    private static func sentence(status: Int?, id: Int64) -> String? {
        guard let status else { return nil }
        let retry = SuggestedCommand.text("retry \(id)")
        return switch status {
        case 400, 411...417, 422, 431: "Check the URL and the request; \(retry) repeats it."
        case 402, 403, 451:
            "Check that you may access it, perhaps with a login (\(SuggestedCommand.text("update \(id) -u USER"))); \(retry) "
                + "repeats the request."
        case 405, 501: "Check the method (-X): the server does not accept it for this URL."
        case 408, 425, 429, 500, 502...599: "The server has a problem of its own; later, \(retry)."
        case 406: "Check the headers (-H): the server has nothing of the requested kind."
        default: nil
        }
    }

    /// The advice for all failures with this reason.
    static func sentence(reason: String, id: Int64) -> String? {
        let retry = SuggestedCommand.text("retry \(id)")
        guard let reason = FailureReason(rawValue: reason) else { return "See \(SuggestedCommand.text("show \(id)"))." }
        switch reason {
        case .dnsFailure: return "Check the host's name in the URL and that DNS works here, then \(retry)."
        case .connectFailed, .connectTimeout, .networkUnreachable:
            return "Check that the server is up and reachable from here, then \(retry)."
        case .connectionLost, .idleTimeout, .shortBody: return "Continue from the kept bytes with \(retry)."
        case .rangeMismatch:
            return "Add it again without --range if the server sends only the whole; otherwise \(retry) repeats the "
                + "request."
        case .tooSlow:
            return "Continue from the kept bytes with \(retry), or before that allow less with "
                + "\(SuggestedCommand.text("update \(id) --min-rate RATE"))."
        case .protocolError, .invalidFraming:
            return "Tell the server's operator that its answer violates HTTP; \(retry) repeats the request."
        case .totalTimeout:
            let change = SuggestedCommand.text("update \(id) --total-timeout TIME")
            return "Give it more time with \(change), then \(retry)."
        case .trustRejected:
            return "Have the server's certificate fixed, or add its CA to the daemon's configuration (trust.ca_file)."
        case .pinMismatch: return "Do not continue before you know why the server has another key than the pinned one."
        case .revocationUnknown:
            return "Have the server staple a current OCSP response; its policy here requires one."
        case .policyMissing:
            return "Have the trust policy restored, or add the task again with another one."
        case .httpStatus:
            let change = SuggestedCommand.text("set-source \(id) URL")
            return "Check the URL, or set another with \(change); later, \(retry)."
        case .authFailed: return "Add it again with the right user and password (-u USER) or header (-H)."
        case .expansionLimit:
            return "Request no content coding (Accept-Encoding: identity), or have results.max_ratio raised."
        case .tooLarge:
            return "Allow more with \(SuggestedCommand.text("update \(id) --max-size SIZE")), then \(retry)."
        case .lengthMismatch, .checksumMismatch:
            let change = SuggestedCommand.text("update \(id) --checksum DIGEST")
            return "Check the checksum you gave (\(change) sets another one) and where the file comes from; \(retry) "
                + "fetches it again."
        case .unexpectedAnswer:
            return
                "Check what the URL serves now, perhaps behind a sign-in page; the received bytes are kept, and \(retry) "
                + "repeats the request."
        case .tooManyRedirects, .redirectDenied, .insecureRedirect:
            return "Use the final URL, or allow the redirect (--redirect) when adding it."
        case .rejectedByPolicy: return "Ask the operator of the daemon: its policy forbids this."
        case .unacceptableType: return "Check what the URL serves now, or widen --accept-type when adding it again."
        case .parseFailed: return "Check the response with \(SuggestedCommand.text("result \(id)"))."
        case .uploadRejected:
            return "Check the server's answer with \(SuggestedCommand.text("result \(id)")), then \(retry)."
        case .sourceFileChanged: return "Add it again, with --spool if the file keeps changing."
        case .bodyNotRewindable: return "Send the content from a regular file, or allow no redirects (--redirect)."
        case .outcomeUnknown:
            return
                "Check whether the server carried it out; if not, \(retry). An Idempotency-Key header makes retries safe."
        case .credentialMissing: return "Have the credential's file, variable or profile restored, then \(retry)."
        case .destinationExists:
            let name = SuggestedCommand.text("update \(id) -o NAME")
            let replace = SuggestedCommand.text("update \(id) --on-conflict overwrite")
            return "Choose another name with \(name), or replace a regular file with \(replace), then \(retry)."
        case .destinationDenied:
            return "Choose a directory (-d) below one of the daemon's roots that its user may write to."
        case .destinationUnavailable: return "Mount or create the directory, then \(retry)."
        case .destinationChanged: return "Move the directory back to where it was, then \(retry)."
        case .insufficientSpace: return "Make room on the disk, then \(retry)."
        case .nameRefused:
            return "Give another name with \(SuggestedCommand.text("update \(id) -o NAME")), then \(retry)."
        case .fileTooLarge:
            return "Choose a directory (-d) on a file system for large files, or raise the daemon's limit (ulimit -f)."
        case .diskError: return "Check the disk (dmesg), then \(retry)."
        case .fileMoveFailed: return "Check the permissions of the directory, then \(retry)."
        case .outOfDescriptors:
            return "Raise the daemon's limit of open files (LimitNOFILE=, ulimit -n), then \(retry)."
        case .postProcessFailed:
            return "Check the hook's output in the daemon's log, then \(retry); nothing is fetched again."
        case .deadlineExceeded: return "Try it without its deadline with \(retry)."
        case .dependencyFailed: return "Repair the task it waited for; when that has completed, \(retry)."
        case .blockedURL: return "Retry anyway with \(retry), or see \(SuggestedCommand.text("failed-url"))."
        case .onlyIfCachedMiss:
            return "Add it again with another --cache-policy that allows a request."
        case .internalError: return "Check the daemon's log (journalctl -u xferd, or --user -u xferd), then \(retry)."
        }
    }
}

extension TaskSummary.Failure {
    /// True if the server or proxy says that it accepts logins of this scheme, in lower case.
    func accepts(_ scheme: String) -> Bool { acceptedLogins.contains { $0.lowercased() == scheme } }
}
