import XferModel
import XferProtocol

@testable import XferCommands

/// `docs/reference/errors.md`, from `ErrorCode`, `FailureReason` and `FailureAdvice`.
enum ErrorReference {
    static var text: String {
        var output = title("Errors") + "## Answers of JSON-RPC\n\n"
        var codes = MarkdownTable("code", "name", "meaning")
        for code in ErrorCode.allCases { codes.rows.append([String(code.rawValue), code.name, code.summary]) }
        output += codes.text + "\n" + introduction
        var reasons = MarkdownTable("reason", "meaning", "tried again", "what to do")
        for reason in FailureReason.allCases {
            reasons.rows.append([
                code(reason.rawValue), meaning(of: reason), reason.isTransient ? "yes" : "no", advice(for: reason),
            ])
        }
        var causes = MarkdownTable("cause", "what to do")
        for cause in FailureCause.allCases {
            let failure = TaskSummary.Failure(reason: "", message: "", host: "HOST", cause: cause, proxy: "URL")
            let advice = FailureAdvice.sentence(cause, failure, id: 0)
            causes.rows.append([
                code(cause.rawValue), advice.replacing(" 0`", with: " ID`").replacing(" 0 ", with: " ID "),
            ])
        }
        return output + reasons.text + "\n" + introductionOfCauses + causes.text
    }

    private static let introductionOfCauses = """
        ## Causes

        `error.cause` says what exactly is wrong where a reason has causes with remedies of their own.


        """

    private static let introduction = """
        ## Reasons a task fails for

        `error.reason` of a task, `task.failed` and `xferctl show`. *Tried again*: whether xferd itself
        tries again, unless the failure says otherwise, as an `http_status` of 503 does.


        """

    private static func advice(for reason: FailureReason) -> String {
        (FailureAdvice.sentence(reason: reason.rawValue, id: 0) ?? "")
            .replacing(" 0`", with: " ID`").replacing(" 0 ", with: " ID ")
    }

    private static func meaning(of reason: FailureReason) -> String {
        switch reason {
        case .dnsFailure: "The host's name could not be resolved"
        case .connectFailed: "No connection could be made"
        case .networkUnreachable: "There is no route to the server"
        case .connectTimeout: "No connection within `connect_timeout`"
        case .connectionLost: "The connection broke"
        case .idleTimeout: "No byte came within `idle_timeout`"
        case .tooSlow: "The body came more slowly than `min_recv_rate` over `min_recv_time`"
        case .totalTimeout: "The attempt took longer than `total_timeout`"
        case .trustRejected: "The server's certificate is not trusted"
        case .pinMismatch: "No pin of a trust policy was shown"
        case .revocationUnknown: "The policy requires a stapled OCSP response that says \"good\", and there is none"
        case .policyMissing: "The trust policy that the task names was removed"
        case .httpStatus: "The status is none of `accept_status`"
        case .authFailed: "The server rejected the credential, or asks for one"
        case .protocolError: "The answer breaks HTTP"
        case .invalidFraming: "The head does not validly say where the content ends"
        case .shortBody: "The body ended before its length"
        case .lengthMismatch: "The finished bytes have another length than announced"
        case .expansionLimit: "A content coding expands to more than `results.max_ratio` allows"
        case .rangeMismatch: "The server sent another range than requested"
        case .tooLarge: "The download is larger than `max_size`"
        case .checksumMismatch: "The bytes do not have the demanded or announced digest"
        case .tooManyRedirects: "The redirects do not end"
        case .redirectDenied: "`redirect` does not allow this redirect"
        case .insecureRedirect: "A redirect leads from https to http"
        case .rejectedByPolicy: "The daemon's configuration refuses the host, the address or the sender"
        case .unacceptableType: "The media type is none of `accept_types`"
        case .unexpectedAnswer:
            "What came in place of the rest of a file does not look like it: a web page, nothing, or less than is kept"
        case .parseFailed: "No parser of `parse` could read the body"
        case .uploadRejected: "The server refuses the upload or gives an impossible offset"
        case .sourceFileChanged: "A file that is sent is not what it was when the task was added"
        case .bodyNotRewindable: "The content has to be sent again and cannot be read from its beginning"
        case .outcomeUnknown: "The request may have reached the server, and it must not be sent twice"
        case .credentialMissing: "A credential's file, variable or profile cannot be read"
        case .destinationExists: "The name is taken, and `on_conflict` is `fail`"
        case .destinationDenied: "The directory lies outside the roots, or its permissions do not allow it"
        case .destinationUnavailable: "The directory is not there, is another one, is read-only, or does not answer"
        case .destinationChanged: "The directory was moved, or the file taken away, while the file was published"
        case .nameRefused: "The file system of the directory cannot hold the name"
        case .fileTooLarge: "The file is larger than its file system, or the daemon's limit of file sizes, allows"
        case .insufficientSpace: "The file system has no room, or less than `download.reserve`"
        case .diskError: "Reading or writing a file failed"
        case .fileMoveFailed: "The file could not be given its name"
        case .outOfDescriptors: "The process or the system has no file descriptor left"
        case .postProcessFailed: "The hook failed, ran too long, or is not configured"
        case .deadlineExceeded: "The task's `deadline` came before its end"
        case .dependencyFailed: "A task of `after`, `after_batch` or `after_group` ended otherwise than completed"
        case .blockedURL: "The URL failed for good a while ago"
        case .onlyIfCachedMiss: "The task may only use the cache, and nothing is kept"
        case .internalError: "A fault of xferd"
        }
    }
}
