public import XferModel

extension ResumeRules {
    /// Judges a response's head: first the status, then the version, then the plausibility of a replacement of kept
    /// bytes, then the media type. Redirects are not judged here: the engine follows them first.
    ///
    /// `url` is the URL that answered, `now` the wall clock (for `Retry-After`).
    public static func judge(_ head: ResponseHead, plan: RequestPlan, url: HTTPURL, now: Timestamp) -> HeadVerdict {
        let verdict: HeadVerdict =
            switch head.status {
            case 206 where plan.range == nil: judgeUnaskedPart(head, plan: plan, url: url, now: now)
            case 206: judgePartial(head, plan: plan, url: url)
            case 304 where !plan.conditions.isEmpty: .notModified
            case 416 where plan.range != nil: judgeUnsatisfiable(head, plan: plan, url: url)
            case _ where plan.acceptedStatus.contains(head.status) && PartView.isOutside(head, of: plan.part):
                judgeOutside(head, plan: plan, url: url)
            case _ where plan.acceptedStatus.contains(head.status):
                judgeWhole(head, plan: plan, length: head.contentLength)
            default: .fail(ResponseRules.failure(head, from: url, acceptedTypes: plan.acceptedTypes, now: now))
            }
        if let failure = excess(of: verdict, plan: plan, url: url) { return .fail(failure) }
        if case .restart = verdict, let suspect = SuspectRules.judge(head, plan: plan, url: url) { return suspect }
        switch verdict {
        case .write, .restart:
            let failure = ResponseRules.typeFailure(
                head, from: url, acceptedTypes: plan.acceptedTypes, rejectsPages: plan.rejectsPages)
            return failure.map { .fail($0) } ?? verdict
        case .complete, .startOver, .retryPlainRange, .proveCondition, .notModified, .suspect, .fail:
            return verdict
        }
    }

    /// The failure for a whole that is known to be larger than the task allows.
    private static func excess(of verdict: HeadVerdict, plan: RequestPlan, url: HTTPURL) -> TransferError? {
        switch verdict {
        case .write(let body), .restart(let body, _):
            guard let most = plan.maxSize, let total = body.total, total > most else { return nil }
            return tooLarge(most, "it has \(total)", host: url.hostKey)
        case .complete, .startOver, .retryPlainRange, .proveCondition, .notModified, .suspect, .fail: return nil
        }
    }

    /// The failure of a download that is larger than its task allows.
    public static func tooLarge(_ most: Int64, _ found: String, host: String?) -> TransferError {
        TransferError(.tooLarge, "the download may have \(most) bytes (max_size), and \(found)", host: host)
    }

    /// Judges the clean end of a body: the exact length decides, not that the server stopped sending.
    public static func judgeEnd(of body: BodyPlan, at offset: Int64, skipped: Int64, host: String) -> BodyEndVerdict {
        if skipped < body.skip {
            return .fail(
                shortBody(
                    expected: body.skip.addingSaturated((body.end ?? body.offset).subtractingSaturated(body.offset)),
                    got: skipped, host))
        }
        if let end = body.end, offset < end {
            return .fail(
                shortBody(
                    expected: end.subtractingSaturated(body.offset), got: offset.subtractingSaturated(body.offset),
                    host))
        }
        guard let goal = body.goal else { return .complete }
        if offset > goal {
            return .fail(
                TransferError(
                    .lengthMismatch, "\(host) sent more than the \(goal) bytes it announced", host: host))
        }
        if offset == goal { return .complete }
        // Asking again without progress could go on for ever.
        return offset > body.offset
            ? .askOn : .fail(shortBody(expected: goal.subtractingSaturated(offset), got: 0, host))
    }

    private static func shortBody(expected: Int64, got: Int64, _ host: String) -> TransferError {
        TransferError(.shortBody, "\(host) announced \(expected) bytes and sent \(got)", host: host)
    }

    // MARK: The whole, requested or not

    /// Judges the head of a response to a request for the whole.
    ///
    /// - Parameter announced: the content's length, if it is known.
    private static func judgeWhole(_ head: ResponseHead, plan: RequestPlan, length announced: Int64?) -> HeadVerdict {
        // The answer to a HEAD gives the length of a content that is not sent.
        let length = plan.method == .head ? 0 : announced
        let whole = BodyPlan(offset: 0, end: length, total: length)
        guard plan.segment.committed > 0 || plan.segment.end != nil else { return .write(whole) }
        let isProven = EntityTag.matchStrongly(plan.kept.validators.etag, head.etag)
        // Its first bytes are here already, if it is of the same version.
        let rest = BodyPlan(
            skip: plan.offset, offset: plan.offset, end: announced ?? plan.kept.totalLength,
            total: announced ?? plan.kept.totalLength, goal: plan.segment.end, isUnproven: !isProven)
        let difference = difference(head, plan: plan)
        guard plan.range != nil else {
            guard plan.reason == .rangeRefused else { return .restart(whole, plan.reason ?? .rangeIgnored) }
            let isSame =
                isProven
                ? difference == nil
                : plan.fallback == .digest && lengthsAgree(head, plan)
                    && head.contentEncoding == plan.kept.contentEncoding
            return isSame ? .write(rest) : .restart(whole, difference ?? .rangeRefused)
        }
        if let reason = difference { return retryOrRestart(head, plan: plan, whole, reason) }
        if plan.proof == .requested, head.status == 200, hasKeptValidator(head, plan), lengthsAgree(head, plan) {
            return .proveCondition(.honoured)
        }
        guard isProven || plan.check == .digest && lengthsAgree(head, plan) else {
            return .restart(whole, .rangeIgnored)
        }
        if mayRetryPlainly(plan), head.value("Accept-Ranges")?.lowercased() == "bytes" {
            return .retryPlainRange(.rangeIgnored)
        }
        // The server does not support ranges.
        return .write(rest)
    }

    /// Decides between one retry and a restart. If only the tag differs, and date and length are equal, another edge
    /// server may have answered, which justifies one attempt. The same applies to other validators at an equal length,
    /// if the bytes may be joined with any validators.
    private static func retryOrRestart(
        _ head: ResponseHead, plan: RequestPlan, _ whole: BodyPlan, _ reason: RestartReason
    ) -> HeadVerdict {
        guard lengthsAgree(head, plan), reason == .etagChanged || reason == .lastModifiedChanged else {
            return .restart(whole, reason)
        }
        let looksUnchanged =
            reason == .etagChanged && head.lastModified != nil && head.lastModified == plan.kept.validators.lastModified
        switch plan.check {
        case .etag where looksUnchanged || plan.fallback.joinsVersions: return .retryPlainRange(reason)
        case .date where plan.fallback.joinsVersions: return .retryPlainRange(reason)
        case .etag, .date, .none, .answerOnly, .unsafe, .digest: return .restart(whole, reason)
        }
    }

    /// True if the answer and the kept bytes are of the same, known complete length.
    private static func lengthsAgree(_ head: ResponseHead, _ plan: RequestPlan) -> Bool {
        guard let known = plan.kept.totalLength else { return false }
        return completeLength(head) == known
    }

    private static func mayRetryPlainly(_ plan: RequestPlan) -> Bool {
        if case .etag = plan.check { true } else { false }
    }

    // MARK: A part

    /// A whole source in place of a part of it. After kept bytes it may be the answer to `If-Range`: then the part of
    /// the new version is requested from its beginning.
    private static func judgeOutside(_ head: ResponseHead, plan: RequestPlan, url: HTTPURL) -> HeadVerdict {
        guard plan.range != nil else { return .fail(PartView.ignored(head, from: url)) }
        let kept = plan.kept.validators
        if let tag = head.etag, !EntityTag.matchStrongly(tag, kept.etag) { return .startOver(.etagChanged) }
        if let date = head.lastModified, date != kept.lastModified { return .startOver(.lastModifiedChanged) }
        return .startOver(.rangeIgnored)
    }

    /// The failure for an unrequested partial response (RFC 9110 §15.3.7).
    public static func unaskedPart(from url: HTTPURL) -> TransferError {
        TransferError(
            .rangeMismatch, "\(url.hostKey) sent a part although the whole was requested", httpStatus: 206,
            host: url.hostKey)
    }

    /// Judges a partial response to a request for the whole. It is usable only if its range is the whole, as some
    /// servers send it.
    private static func judgeUnaskedPart(
        _ head: ResponseHead, plan: RequestPlan, url: HTTPURL, now: Timestamp
    ) -> HeadVerdict {
        // A part that was requested comes as a 206 or not at all.
        guard plan.part != nil || plan.acceptedStatus.contains(head.status) else {
            return .fail(ResponseRules.failure(head, from: url, acceptedTypes: plan.acceptedTypes, now: now))
        }
        guard let length = head.wholeLength else {
            guard plan.part != nil else { return .fail(unaskedPart(from: url)) }
            return .fail(
                TransferError(
                    .rangeMismatch,
                    "\(url.hostKey) sent another range than the requested one, or one of unknown length",
                    httpStatus: 206, host: url.hostKey))
        }
        return judgeWhole(head, plan: plan, length: length)
    }

    private static func judgePartial(_ head: ResponseHead, plan: RequestPlan, url: HTTPURL) -> HeadVerdict {
        if let type = head.value("Content-Type"), type.lowercased().hasPrefix("multipart/") {
            return .startOver(.unusableRange("several parts instead of one"))
        }
        guard case .satisfied(let first, let last, let complete) = head.contentRange else {
            return .startOver(.unusableRange("no valid Content-Range"))
        }
        if let reason = difference(head, plan: plan) { return .startOver(reason) }
        if plan.proof == .lastByte, complete == plan.offset {
            return hasKeptValidator(head, plan) ? .complete : .fail(unprovenEnd(at: plan.offset, url))
        }
        if let reason = unproven(head, plan: plan) {
            return mayProveCondition(head, plan) ? .proveCondition(.requested) : .startOver(reason)
        }
        guard let total = complete ?? plan.kept.totalLength, last < total else {
            return .startOver(.unusableRange("the complete length is unknown"))
        }
        guard first <= plan.offset else {
            return .startOver(.unusableRange("it starts at \(first), after \(plan.offset)"))
        }
        guard last >= plan.offset else { return .startOver(.unusableRange("it ends before \(plan.offset)")) }
        if let length = head.contentLength, length != last.subtractingSaturated(first).addingSaturated(1) {
            return .startOver(.unusableRange("Content-Range and Content-Length contradict each other"))
        }
        return .write(
            BodyPlan(
                skip: plan.offset.subtractingSaturated(first), offset: plan.offset, end: last.addingSaturated(1),
                total: total, goal: plan.segment.end,
                isUnproven: plan.fallback == .digest && !hasKeptValidator(head, plan)))
    }

    /// True if the answer shows the validator that the kept bytes have.
    private static func hasKeptValidator(_ head: ResponseHead, _ plan: RequestPlan) -> Bool {
        switch validator(of: plan.kept.validators) {
        case .etag(let tag): EntityTag.matchStrongly(tag, head.etag)
        case .date(let date):
            head.lastModified == date && (head.etag == nil || plan.kept.validators.etag == Validators.unknownTag)
        case nil: false
        }
    }

    /// The evidence that the answer is of another version than the kept bytes; nil when there is none.
    private static func difference(_ head: ResponseHead, plan: RequestPlan) -> RestartReason? {
        let kept = plan.kept
        guard head.contentEncoding == kept.contentEncoding else { return .codingChanged }
        if let known = kept.totalLength, let now = completeLength(head), known != now {
            return .lengthChanged(kept: known, now: now)
        }
        // More bytes are kept than the representation has, though its length was not known before.
        if let now = completeLength(head), now < plan.offset { return .lengthChanged(kept: plan.offset, now: now) }
        if ignoresValidators(of: head, plan) { return nil }
        let isTagKnown = kept.validators.etag != Validators.unknownTag || head.lastModified == nil
        if isTagKnown, let tag = head.etag, !agrees(tag, kept.validators.etag, plan) { return .etagChanged }
        if let date = head.lastModified, let known = kept.validators.lastModified, date != known {
            return .lastModifiedChanged
        }
        return nil
    }

    /// True if the bytes may be joined regardless of the validators. If a server ignores `If-Range` and sends a range,
    /// the request is not repeated.
    private static func ignoresValidators(of head: ResponseHead, _ plan: RequestPlan) -> Bool {
        lengthsAgree(head, plan) && (plan.check.joinsVersions || head.status == 206 && plan.fallback.joinsVersions)
    }

    private static func agrees(_ tag: String, _ known: String?, _ plan: RequestPlan) -> Bool {
        guard plan.check.joinsVersions else { return EntityTag.matchStrongly(tag, known) }
        return known.map { EntityTag.matchWeakly(tag, $0) } ?? true
    }

    private static func completeLength(_ head: ResponseHead) -> Int64? {
        guard head.status == 206 else { return head.contentLength }
        guard case .satisfied(_, _, let complete) = head.contentRange else { return nil }
        return complete
    }

    /// The reason why the answer does not prove its version; nil if it does. Some servers ignore `If-Range` and send a
    /// part of the new file. So the answer itself has to prove its version, unless a strong digest will be verified
    /// (then the body is marked as unproven) or the client allows unsafe resumption.
    private static func unproven(_ head: ResponseHead, plan: RequestPlan) -> RestartReason? {
        if plan.check.joinsVersions || ignoresValidators(of: head, plan) { return nil }
        let isConditionProof = plan.proof == .honoured && lengthsAgree(head, plan)
        switch validator(of: plan.kept.validators) {
        case .etag:
            return head.etag == nil && !isConditionProof && !hasKeptDate(head, plan) ? .validatorMissing : nil
        case .date: return head.lastModified == nil && !isConditionProof ? .validatorMissing : nil
        case nil: return .noStrongValidator
        }
    }

    /// True if the answer, which has no tag, shows the kept length and modification date, and that date is as strong as
    /// where a server has no tags at all.
    private static func hasKeptDate(_ head: ResponseHead, _ plan: RequestPlan) -> Bool {
        var dates = plan.kept.validators
        dates.etag = nil
        guard case .date(let date) = validator(of: dates) else { return false }
        return head.lastModified == date && lengthsAgree(head, plan)
    }

    /// True if a part without a validator may be of the kept version since the server honours `If-Range`, which it has
    /// not shown yet. One segment of several is not worth the requests.
    private static func mayProveCondition(_ head: ResponseHead, _ plan: RequestPlan) -> Bool {
        switch plan.check {
        case .etag, .date: plan.proof == .none && lengthsAgree(head, plan) && plan.segment.end == nil
        case .none, .answerOnly, .unsafe, .digest: false
        }
    }

    // MARK: Nothing

    /// Judges a 416. The download is complete only if the server's length and the kept bytes are equal, the known
    /// length does not differ, and the version is proven.
    ///
    /// If no length is known, the body may have ended early. A server that has exactly the kept bytes is no reason to
    /// discard them. Without a tag a demanded digest decides, else the part that begins at the last kept byte.
    private static func judgeUnsatisfiable(_ head: ResponseHead, plan: RequestPlan, url: HTTPURL) -> HeadVerdict {
        guard case .unsatisfied(let complete) = head.contentRange else { return .startOver(.rangeNotSatisfiable) }
        if let known = plan.kept.totalLength, known != complete {
            return .startOver(.lengthChanged(kept: known, now: complete))
        }
        let isProven = EntityTag.matchStrongly(plan.kept.validators.etag, head.etag)
        guard complete == plan.offset else { return .startOver(.rangeNotSatisfiable) }
        if isProven { return .complete }
        guard plan.kept.totalLength == nil, head.etag == nil else { return .startOver(.rangeNotSatisfiable) }
        if plan.fallback == .digest { return .complete }
        switch plan.check {
        case .etag where plan.proof != .lastByte, .date where plan.proof != .lastByte:
            return .proveCondition(.lastByte)
        case .etag, .date, .none, .answerOnly, .unsafe, .digest: return .fail(unprovenEnd(at: complete, url))
        }
    }

    private static func unprovenEnd(at length: Int64, _ url: HTTPURL) -> TransferError {
        TransferError(
            .httpStatus,
            "\(url.hostKey) has nothing after the \(length) kept bytes, and no entity tag or checksum shows "
                + "that they are the whole file",
            isRetriable: false, httpStatus: 416, host: url.hostKey)
    }
}
