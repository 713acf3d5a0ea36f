import Testing
import XferCore
import XferModel
import XferTestSupport

/// Whatever mirrors serve, what is published is one version from the first byte to the last; with a checksum, the one
/// it is of.
///
/// The mirrors are a model: each serves one of a few versions, of one length or several, with a tag of its own, one
/// that all who serve that version have, a weak one or none; with ranges or without; fails for good, for now, or in the
/// middle; and may change to another version. What a tag says is true. Attempts are made as `SharedTransfer` makes
/// them.
@Suite struct MirrorPropertyTests {
    @Test(arguments: UInt64(0)..<20) func aFilePublishedFromLyingMirrorsIsOneVersion(block: UInt64) {
        var completed = 0
        for seed in block * 500..<(block + 1) * 500 {
            var world = MirrorWorld(seed: seed)
            guard world.download() else { continue }
            completed += 1
            let isRight =
                world.demandsDigest
                ? world.file == world.versions[0] : world.versions.contains { $0 == world.file }
            guard isRight, !world.mixed else {
                Issue.record("seed \(seed)\n\(world.log.joined(separator: "\n"))")
                return
            }
        }
        #expect(completed > 50)
    }

    /// One mirror that keeps serving the right version is enough, wherever it stands.
    @Test(arguments: UInt64(0)..<10) func oneGoodMirrorCompletesTheDownload(block: UInt64) {
        for seed in block * 200..<(block + 1) * 200 {
            var world = MirrorWorld(seed: seed, hasGoodMirror: true)
            guard world.download() else {
                Issue.record("seed \(seed)\n\(world.log.joined(separator: "\n"))")
                return
            }
        }
    }
}

private struct MirrorWorld {
    struct Mirror {
        enum Tag { case shared, own, weak, none }

        var version: Int
        let tag: Tag
        let doesRanges: Bool
        /// Chances of 404, of 503, and of breaking off.
        let gone: Double
        let busy: Double
        let breaks: Double
        let changes: Double
    }

    var random: SplitMix64
    /// The first one is what the checksum is of.
    let versions: [[UInt16]]
    var mirrors: [Mirror]
    let demandsDigest: Bool
    var file: [UInt16] = []
    /// Committed with the bytes.
    var kept = ResumeData()
    var use = SourceUse()
    /// Whether bytes were ever written at another place than their own.
    var mixed = false
    var log: [String] = []

    init(seed: UInt64, hasGoodMirror: Bool = false) {
        random = SplitMix64(seed: seed)
        let length = Int.random(in: 1...40, using: &random)
        let keepsLength = random.chance(0.7)
        versions = (0..<3).map { number in
            let count = keepsLength ? length : (length + number * 7) % 41 + 1
            return (0..<count).map { UInt16(number * 1000 + $0) }
        }
        demandsDigest = random.chance(0.5)
        var generator = random
        mirrors = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
            Mirror(
                version: [0, 0, 1, 2].randomElement(using: &generator) ?? 0,
                tag: [.shared, .own, .weak, .none].randomElement(using: &generator) ?? .none,
                doesRanges: generator.chance(0.8), gone: generator.chance(0.3) ? 0.5 : 0,
                busy: generator.chance(0.5) ? 0.4 : 0, breaks: generator.chance(0.7) ? 0.6 : 0,
                changes: generator.chance(0.2) ? 0.2 : 0)
        }
        if hasGoodMirror {
            let good = Mirror(version: 0, tag: .own, doesRanges: true, gone: 0, busy: 0, breaks: 0, changes: 0)
            mirrors[Int.random(in: 0..<mirrors.count, using: &generator)] = good
        }
        random = generator
    }

    /// The task's tries, each a run; whether it has come to a published file.
    mutating func download() -> Bool {
        var tries = 0
        for _ in 0..<60 {
            tries += 1
            let before = file.count
            switch run(tries: tries) {
            case .published: return true
            case .failed: return false
            case .again: tries = 0
            case .wait: if file.count > before { tries = 0 }
            }
        }
        log.append("gave up")
        return false
    }

    private enum End { case published, failed, again, wait }

    private mutating func run(tries: Int) -> End {
        var book = MirrorSelector(count: mirrors.count, use: use)
        // What a restart finds is what was committed.
        for _ in 0..<200 {
            if !file.isEmpty, Int64(file.count) == kept.totalLength { return finish() }
            let proof: MirrorSelector.Proof =
                kept.totalLength == nil
                ? .none : demandsDigest ? .digest : kept.validators.etag.map(EntityTag.isStrong) == true ? .tag : .none
            let isPatient = MirrorSelector.isPatient(tries: tries, maxRetries: nil)
            switch book.next(hasBytes: !file.isEmpty, proof: proof, isPatient: isPatient) {
            case .fail(let error):
                log.append("run fails: \(error.reason) \(error.isRetriable)")
                return error.isRetriable ? .wait : .failed
            case .request(let choice):
                log.append("ask \(choice), \(file.count) kept")
                if let error = attempt(choice, &book) { book.onFailure(of: choice.source, error) }
                if file.isEmpty, case .some(0) = kept.totalLength { return finish() }
            }
        }
        Issue.record("a run does not end\n\(log.joined(separator: "\n"))")
        return .failed
    }

    private mutating func finish() -> End {
        guard demandsDigest, file != versions[0] else { return .published }
        file = []
        kept = ResumeData()
        guard let next = MirrorSelector.suspect(use, count: mirrors.count, isDemanded: true) else { return .failed }
        log.append("wrong digest of \(use)")
        use = next
        return .again
    }

    /// One attempt; what it fails with, if it does.
    private mutating func attempt(_ choice: MirrorSelector.Choice, _ book: inout MirrorSelector) -> TransferError? {
        var asked = choice.mode == .fromStart ? ResumeData(totalLength: kept.totalLength) : kept
        asked.doubt = kept.doubt
        asked.segments = file.isEmpty ? [] : [Segment(start: 0, committed: Int64(file.count))]
        if choice.mode == .underDigest { asked.validators = Validators() }
        let url = HTTPURL(scheme: .http, host: "m\(choice.source)", port: 80, target: "/")
        var plainRange = false
        var proof = ConditionProof.none
        for _ in 0..<5 {
            let plan = ResumeRules.plan(
                kept: asked, source: url, allowsUnsafe: choice.mode == .underDigest,
                joinsUnderDigest: choice.mode == .own && demandsDigest && !book.isWary, plainRange: plainRange,
                proof: proof)
            let (head, body) = answer(of: choice.source, to: plan)
            let verdict = ResumeRules.judge(head, plan: plan, url: url, now: Timestamp(seconds: 0))
            log.append("  \(head.status) \(head.fields.map(\.value)) → \(verdict)")
            var data = ResumeRules.resumeData(after: head, verdict: verdict, plan: plan, finalURL: url, sent: [])
            if choice.mode == .underDigest { data.validators = kept.validators }
            switch verdict {
            case .write(let to):
                // What is kept is written over only after the manager has let go of it.
                if plan.range == nil, !file.isEmpty { mixed = true }
                book.onBody(of: choice, at: to.offset, isUnproven: to.isUnproven)
                return store(body, to, data, book, from: choice.source)
            case .restart(let to, _):
                guard !choice.mode.isForeign else {
                    book.onRefusal(of: choice.source)
                    return nil
                }
                drop(&book)
                book.begin(with: choice.source)
                return store(body, to, data, book, from: choice.source)
            case .startOver:
                guard !choice.mode.isForeign else {
                    book.onRefusal(of: choice.source)
                    return nil
                }
                drop(&book)
                return nil
            case .retryPlainRange: plainRange = true
            case .proveCondition(let next): proof = next
            case .suspect(let doubt, let error):
                guard !choice.mode.isForeign else {
                    book.onRefusal(of: choice.source)
                    return nil
                }
                kept.doubt = doubt
                return error
            case .fail(let error): return error
            case .complete, .notModified: return nil
            }
        }
        return TransferError(.rangeMismatch, "contradictions")
    }

    private mutating func drop(_ book: inout MirrorSelector) {
        file = []
        kept = ResumeData()
        use = use.withoutBytes
        book.onBytesLost()
    }

    private mutating func store(
        _ body: [UInt16], _ to: BodyPlan, _ data: ResumeData, _ book: MirrorSelector, from source: Int
    ) -> TransferError? {
        use = book.use
        kept = data
        var new = Array(body.dropFirst(Int(to.skip)))
        let isBroken = random.chance(mirrors[source].breaks)
        if isBroken { new = Array(new.prefix(Int.random(in: 0...new.count, using: &random))) }
        if Int(to.offset) != file.count { mixed = true }
        file += new
        if file.isEmpty, kept.totalLength != 0 { kept.segments = [] }
        return isBroken ? TransferError(.connectionLost, "broke off") : nil
    }

    private mutating func answer(of source: Int, to plan: RequestPlan) -> (ResponseHead, [UInt16]) {
        let mirror = mirrors[source]
        if random.chance(mirror.gone) { return (ResponseHead(status: 404), []) }
        if random.chance(mirror.busy) { return (ResponseHead(status: 503), []) }
        if random.chance(mirror.changes) { mirrors[source].version = Int.random(in: 0..<3, using: &random) }
        let version = mirrors[source].version
        let content = versions[version]
        let tag: String? =
            switch mirror.tag {
            case .shared: "\"v\(version)\""
            case .own: "\"m\(source)-\(version)\""
            case .weak: "W/\"v\(version)\""
            case .none: nil
            }
        let fields = tag.map { [HeaderField(name: "ETag", value: $0)] } ?? []
        func allows() -> Bool {
            plan.headers.firstValue(named: "If-Range").map { $0 == tag } ?? true
        }
        guard mirror.doesRanges, let range = plan.range, allows() else {
            let length = HeaderField(name: "Content-Length", value: "\(content.count)")
            return (ResponseHead(status: 200, fields: fields + [length]), content)
        }
        let first = Int(range.first)
        guard first < content.count else {
            let range = HeaderField(name: "Content-Range", value: "bytes */\(content.count)")
            return (ResponseHead(status: 416, fields: fields + [range]), [])
        }
        let answered = HeaderField(
            name: "Content-Range", value: "bytes \(first)-\(content.count - 1)/\(content.count)")
        return (ResponseHead(status: 206, fields: fields + [answered]), Array(content[first...]))
    }
}
