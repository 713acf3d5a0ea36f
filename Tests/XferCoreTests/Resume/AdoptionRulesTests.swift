import Testing
import XferCore
import XferModel

/// Which files of other programs are continued, and how.
@Suite struct AdoptionRulesTests {
    private static let second: Int64 = 1_000_000_000
    /// Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110 §5.6.7.
    private static let date: Int64 = 784_111_777

    private func proof(
        modifiedAt: Int64 = date * second, changedAt: Int64 = (date + 60) * second,
        _ change: (inout TaskSpecification) -> Void = { _ in }
    ) -> AdoptionRules.Proof? {
        let url = HTTPURL(scheme: .http, host: "example.org", port: 80, target: "/")
        var specification = TaskSpecification(
            owner: Owner(uid: 1), request: TransferRequest(url: url), destination: Destination(directory: "/"))
        change(&specification)
        return AdoptionRules.proof(for: specification, modifiedAt: modifiedAt, changedAt: changedAt)
    }

    @Test func aStrongDigestComesBeforePermissionAndPermissionBeforeTheDate() throws {
        let strong = try Checksum(parsing: "sha-256=" + String(repeating: "0", count: 64))
        let weak = try Checksum(parsing: "md5=" + String(repeating: "0", count: 32))
        #expect(proof { ($0.checksum, $0.resumesUnsafely) = (strong, true) } == .digest)
        #expect(proof { ($0.checksum, $0.resumesUnsafely) = (weak, true) } == .unsafe)
        let dated = AdoptionRules.Proof.date(
            Validators(
                etag: Validators.unknownTag, lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
                date: "Sun, 06 Nov 1994 08:50:37 GMT"))
        #expect(proof { $0.checksum = weak } == dated && proof() == dated)
    }

    @Test func aDateIsTheServersOnlyIfItWasSetAfterTheLastWrite() {
        let date = Self.date * Self.second
        #expect(proof(modifiedAt: date, changedAt: date + Self.second) != nil)
        #expect(proof(modifiedAt: date, changedAt: date + Self.second - 1) == nil)
        #expect(proof(modifiedAt: date + 1) == nil)
        #expect(proof(modifiedAt: 0) == nil && proof(modifiedAt: -Self.second) == nil)
        #expect(proof(modifiedAt: .max, changedAt: .min) == nil)
    }

    @Test func whatIsNoPlainDownloadIsNotContinued() {
        #expect(proof { ($0.kind, $0.resumesUnsafely) = (.data, true) } == nil)
        #expect(proof { ($0.request.method, $0.resumesUnsafely) = (.post, true) } == nil)
        #expect(proof { ($0.request.range, $0.resumesUnsafely) = (SourceRange("5-9"), true) } == nil)
    }

    private func kept(_ complete: [(Int64, Int64)], of total: Int64?) -> [Segment]? {
        AdoptionRules.resumeData(
            complete: complete.map { Segment(start: $0.0, committed: $0.1) }, total: total, proof: .unsafe)?.segments
    }

    @Test(
        arguments: [
            (0, nil, nil), (1, nil, nil), (2, nil, 1), (100, nil, 99), (100, 1000, 100), (100, 101, 100),
            (100, 100, 99), (1, 1, nil), (Int64.min, nil, nil), (.max, nil, .max - 1),
        ] as [(Int64, Int64?, Int64?)])
    func somethingIsLeftToBeRequested(length: Int64, total: Int64?, end: Int64?) {
        #expect(kept([(0, length)], of: total) == end.map { [Segment(start: 0, committed: $0)] })
    }

    @Test func piecesWithGapsAreKeptAsTheyAre() {
        let pieces = [Segment(start: 0, committed: 10), Segment(start: 20, committed: 30)]
        #expect(kept([(0, 10), (20, 30)], of: 40) == pieces)
        #expect(kept([(0, 10), (20, 20), (20, 30)], of: 30) == pieces)
        #expect(kept([], of: 40) == nil && kept([(5, 5)], of: 40) == nil)
    }

    // MARK: The server's answer

    private func judge(_ status: Int, _ fields: [(String, String)]) throws -> HeadVerdict {
        let proof = try #require(self.proof())
        let kept = try #require(
            AdoptionRules.resumeData(
                complete: [Segment(start: 0, committed: 101)], total: nil, proof: proof))
        let plan = ResumeRules.plan(kept: kept)
        #expect(plan.check == .date("Sun, 06 Nov 1994 08:49:37 GMT") && plan.offset == 100)
        let head = ResponseHead(status: status, fields: fields.map { HeaderField(name: $0.0, value: $0.1) })
        let url = HTTPURL(scheme: .http, host: "example.org", port: 80, target: "/")
        let verdict = ResumeRules.judge(head, plan: plan, url: url, now: Timestamp(seconds: 0))
        if case .write = verdict {
            // From now on the tag shows the version.
            let data = ResumeRules.resumeData(after: head, verdict: verdict, plan: plan, finalURL: url, sent: [])
            #expect(data.validators == head.validators)
        }
        return verdict
    }

    private static let part = ("Content-Range", "bytes 100-999/1000")
    private static let sameDate = ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")

    @Test func aPartWithTheDateOfTheFileContinuesItWhateverItsTagIs() throws {
        let rest = HeadVerdict.write(BodyPlan(offset: 100, end: 1000, total: 1000))
        #expect(try judge(206, [Self.part, Self.sameDate]) == rest)
        #expect(try judge(206, [Self.part, Self.sameDate, ("ETag", "\"a\"")]) == rest)
    }

    @Test func aPartWithoutThatDateDoesNotContinueTheFile() throws {
        let other = ("Last-Modified", "Sun, 06 Nov 1994 08:49:38 GMT")
        #expect(try judge(206, [Self.part, other]) == .startOver(.lastModifiedChanged))
        #expect(try judge(206, [Self.part, other, ("ETag", "\"a\"")]) == .startOver(.lastModifiedChanged))
        #expect(try judge(206, [Self.part, ("ETag", "\"a\"")]) == .startOver(.etagChanged))
        #expect(try judge(206, [Self.part]) == .startOver(.validatorMissing))
    }
}
