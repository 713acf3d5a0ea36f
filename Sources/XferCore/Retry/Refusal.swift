public import XferModel

/// The meaning of a server's refusal: whether the same request may be answered otherwise later.
///
/// `RetryPolicy` decides from it when the task repeats the request. The later answers decide, so that no temporary
/// refusal is the end of a file.
public enum Refusal: Hashable, Sendable, CaseIterable {
    /// The answer is about the request and stays.
    case final
    /// The URL contains a permission that has expired. The task waits for another URL and keeps its bytes.
    case expired
    /// The server may answer otherwise. The task repeats the request within its own limits.
    case passing
    /// Possibly only the URL behind a redirect refuses, or the server only at the moment. The task repeats the request
    /// `mostDoubts` times.
    case doubtful
    /// The host sends other files to this client, and may accept fewer requests at once. The task repeats its request
    /// when one of those has ended. A refusal while the host serves fewer than before has another reason: see
    /// `HostConcurrency`.
    case fewerAtOnce

    /// The number of repetitions after a doubtful refusal.
    public static let mostDoubts = 3

    /// The time after which a task that waits for fewer transfers of its host repeats its request although none has
    /// ended. If the refusal would otherwise be final, there are `mostDoubts` such repetitions.
    public static let longestForRoom = Duration.seconds(1200)

    /// True if the task waits until the host sends fewer files at once: its refusal would be final otherwise.
    public static func waitsForRoom(_ task: TransferTask) -> Bool {
        task.state == .waiting && task.wait?.reason == .retry && task.error.map { isForRoom($0, to: task) } == true
    }

    /// True if only the number of concurrent transfers can be the reason of a temporary refusal.
    static func isForRoom(_ error: TransferError, to task: TransferTask) -> Bool {
        error.reason == .httpStatus && error.httpStatus == 403 && !error.isRetriable && task.received == 0
    }

    /// The meaning of a failure; nil if it is not a refusing answer.
    ///
    /// - Parameters:
    ///   - othersOfHost: transfers of the host, besides the task's, whose bodies arrive now; 0 if the host was seen to
    ///     serve more at once. See `HostConcurrency`.
    public static func meaning(
        of error: TransferError, to task: TransferTask, othersOfHost: Int = 0
    ) -> Refusal? {
        guard let status = error.httpStatus, error.reason == .httpStatus || error.reason == .authFailed else {
            return nil
        }
        if SourceExpiry.isExpired(task, after: error) { return .expired }
        let isFile = task.specification.isFetch
        if othersOfHost > 0, [403, 429, 503].contains(status), isFile || error.isRetriable { return .fewerAtOnce }
        if error.isRetriable { return .passing }
        // 407 is the proxy's, which is asked alike for every file.
        guard isFile, status >= 400, status != 407 else { return .final }
        if task.received > 0 {
            // The server gave a part of this file to the same request.
            if status == 403 || status == 401 && !task.specification.hasCredentials { return .passing }
            if (400...499).contains(status), ![401, 410].contains(status) { return .doubtful }
        }
        // The next answer of the first URL may lead elsewhere.
        return error.isRedirected == true ? .doubtful : .final
    }

    /// The failure of a run, with the number of refusals since the last progress after which the task gives up
    /// (`mostDoubts`). Failures of other kinds in between neither count nor end the count, so that a single doubtful
    /// refusal after many of them is not the last one.
    ///
    /// - Parameter task: with the failure that it had before the run.
    public static func counted(_ error: TransferError, of task: TransferTask, othersOfHost: Int = 0) -> TransferError {
        let isDoubt =
            switch meaning(of: error, to: task, othersOfHost: othersOfHost) {
            case .doubtful: true
            case .fewerAtOnce: isForRoom(error, to: task)
            case .final, .expired, .passing, nil: false
            }
        let before = max(0, task.error?.doubts ?? 0)
        let count = isDoubt ? before.addingSaturated(1) : before
        var failure = error
        failure.doubts = count > 0 ? count : nil
        return failure
    }

    /// True if a server that sent a part of the file may refuse all requests for a range, as shields do: then the whole
    /// is requested. After a temporary refusal the range comes first: the whole costs the kept bytes again.
    ///
    /// - Parameter tries: the attempts since the last progress, that one and this one included: 2 is the first one that
    ///   continues.
    public static func mayConcernRange(_ error: TransferError, tries: Int) -> Bool {
        guard tries > 2, error.reason == .httpStatus, let status = error.httpStatus else { return false }
        return [400, 403, 405, 406, 412, 500, 501].contains(status) && error.saysExpired != true && error.proxy == nil
    }
}

extension TaskSpecification {
    /// True if the task gets a file by a request that changes nothing.
    fileprivate var isFetch: Bool { kind == .download && [.get, .head].contains(request.method) }

    /// True if the request has credentials in addition to its URL.
    fileprivate var hasCredentials: Bool {
        request.credential != nil || request.usesProfileSecrets
            || request.headers.firstValue(named: "Authorization") != nil
    }
}

/// Distinguishes a URL whose permission expired during a transfer from a server that refuses.
public enum SourceExpiry {
    /// True if the server refuses to continue a download that began without credentials because the permission in the
    /// URL has expired: the URL looks signed, or the answer states it. With credentials, the answer is about them. An
    /// answer of another host is about the redirect's URL, and the task's own URL may lead to another one.
    ///
    /// Servers do not agree on a status: S3 and CloudFront answer 403, Google Cloud Storage and R2 400 with
    /// `ExpiredToken`, others 401, 404 or 410.
    public static func isExpired(_ task: TransferTask, after error: TransferError) -> Bool {
        let specification = task.specification
        guard let status = error.httpStatus, error.reason == .httpStatus || error.reason == .authFailed,
            specification.kind == .download, task.received > 0, !specification.hasCredentials, error.proxy == nil,
            !isFromElsewhere(error, specification)
        else { return false }
        let says = error.saysExpired == true
        return switch status {
        case 400: says
        case 401, 403, 404, 410: says || specification.sources(of: error).contains(where: isSigned)
        default: false
        }
    }

    /// True if another host than those of the task's URLs has answered, after a redirect.
    private static func isFromElsewhere(_ error: TransferError, _ specification: TaskSpecification) -> Bool {
        guard let host = error.host else { return false }
        return !specification.sources.contains { $0.hostKey == host }
    }

    // MARK: URLs

    /// Parameters that carry a signature, a token or the time at which one expires.
    ///
    /// AWS Signature Version 4 and 2 (S3, CloudFront, R2), Google Cloud Storage V4 and V2, Azure shared access
    /// signatures, Alibaba OSS and CDN, Tencent COS and CDN, Volcengine TOS, Huawei OBS, Wangsu, Akamai, Bunny, nginx
    /// `secure_link`, and bearer tokens in the query (RFC 6750 §2.3).
    private static let signatures: Set<String> = [
        "x-amz-signature", "x-amz-expires", "x-amz-security-token", "x-goog-signature", "x-goog-expires",
        "x-oss-signature", "x-oss-expires", "x-oss-security-token", "x-tos-signature", "x-tos-expires",
        "x-obs-signature", "x-obs-expires", "x-cos-security-token", "q-signature", "q-sign-time",
        "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "key-pair-id",
        "signature", "sign", "sig", "lsig", "hmac", "jwt",
        "expires", "expire", "expiry", "exp",
        "token", "access_token", "auth_token", "download_token", "__token__", "__gda__", "hdnts", "hdnea",
        "auth_key", "wssecret", "wstime", "txsecret", "txtime", "verify",
    ]

    /// True if the URL's query has a signature, a token or an end of its validity.
    public static func isSigned(_ url: HTTPURL) -> Bool {
        guard let mark = url.target.firstIndex(of: "?") else { return false }
        return url.target[mark...].dropFirst().split { $0 == "&" || $0 == ";" }.contains { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 && !parts[1].isEmpty && signatures.contains(parts[0].lowercased())
        }
    }

    // MARK: Answers

    /// The longest beginning of a refusal's text that is searched, in bytes.
    public static let longestText = 4096

    /// Codes of the services above, and phrases that they and others write. In lower case.
    private static let phrases = [
        "expiredtoken", "expiredrequest", "requestexpired", "tokenexpired", "signatureexpired", "urlexpired",
        "expired_token", "expired_auth_token", "token_expired", "url_expired", "link_expired", "signature_expired",
        "request has expired", "token has expired", "signature has expired", "url has expired", "link has expired",
        "token is expired", "token expired", "signature expired", "request expired", "url expired", "link expired",
        "url signature expired", "request signature expired",
        "signature not valid in the specified time frame",
    ]

    /// True if the text of a refusal states that the URL, or its permission, has expired.
    public static func isStated(in text: some Collection<UInt8>) -> Bool {
        let lower = String(decoding: text.prefix(longestText), as: UTF8.self).lowercased()
        return phrases.contains { lower.contains($0) }
    }
}

extension TaskSpecification {
    /// The sources on the host that answered; all of them if it is not known.
    fileprivate func sources(of error: TransferError) -> [HTTPURL] {
        guard let host = error.host else { return sources }
        return sources.filter { $0.hostKey == host }
    }
}
