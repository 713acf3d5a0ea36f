import Testing
import XferCore
import XferModel
import XferTestSupport

/// Whatever a server does, the bytes called complete are one version from first to last.
///
/// The server is a model: a few versions, of which any may answer at any time, with headers left out, ranges shifted,
/// shortened, mislabelled, and bodies broken off. It tells no lie that only a digest could find: what it says of the
/// version of the bytes it sends is true or missing. It either honours `If-Range` or never does, and then always knows
/// ranges.
@Suite struct ResumePropertyTests {
    @Test(arguments: UInt64(0)..<20)
    func aCompleteDownloadFromALyingServerIsOneVersion(block: UInt64) {
        for seed in block * 500..<(block + 1) * 500 {
            var world = World(seed: seed)
            let outcome = world.download()
            let isWhole = outcome != .complete || world.versions.contains { $0.content == world.file }
            if world.wroteOverKept || !isWhole {
                Issue.record("seed \(seed)\n\(world.log.joined(separator: "\n"))")
                return
            }
        }
    }

    @Test func aDownloadFromAnHonestServerCompletes() {
        for seed in UInt64(1)...200 {
            var world = World(seed: seed)
            world.isHonest = true
            #expect(world.download() == .complete)
        }
    }
}

private struct World {
    enum Outcome { case complete, failed, gaveUp }

    struct Version {
        var content: [UInt16]
        var validators: Validators
    }

    struct Response {
        var head: ResponseHead
        var body: ArraySlice<UInt16>
        /// The body ended as announced, as far as the transport can tell.
        var isClean: Bool
    }

    var random: SplitMix64
    let versions: [Version]
    var current = 0
    var isHonest = false
    let honoursIfRange: Bool
    var file: [UInt16] = []
    var kept = ResumeData()
    var wroteOverKept = false
    var log: [String] = []
    let url = HTTPURL(scheme: .http, host: "h", port: 80, target: "/")

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        let length = Int.random(in: 0...40, using: &random)
        let style = Int.random(in: 0..<5, using: &random)
        let keepsLength = random.chance(0.6)
        honoursIfRange = random.chance(0.5)
        versions = (0..<3).map { number in
            let count = keepsLength ? length : (length + number * 7) % 41
            let date = "Sun, 06 Nov 1994 0\(number + 1):49:37 GMT"
            let validators =
                switch style {
                case 0: Validators(etag: "\"\(number)\"")
                case 1: Validators(etag: "\"\(number)\"", lastModified: date)
                case 2: Validators(lastModified: date)
                case 3: Validators(etag: "W/\"\(number)\"", lastModified: date)
                default: Validators()
                }
            // Every cell of every version is unlike every other.
            return Version(content: (0..<count).map { UInt16(number * 1000 + $0) }, validators: validators)
        }
    }

    mutating func download() -> Outcome {
        for _ in 0..<200 {
            switch attempt() {
            case .some(let outcome): return outcome
            case nil: continue
            }
        }
        return .gaveUp
    }

    /// One attempt as the engine and its manager would run it; nil to try again.
    private mutating func attempt() -> Outcome? {
        var plan = ResumeRules.plan(kept: kept)
        if plan.isWhole { return .complete }
        for _ in 0..<10 {
            let response = respond(to: plan)
            let verdict = ResumeRules.judge(response.head, plan: plan, url: url, now: Timestamp(seconds: 0))
            log.append(
                "\(plan.headers.map(\.value)) → \(response.head.status) \(response.head.fields.map(\.value)) → \(verdict)"
            )
            let data = ResumeRules.resumeData(
                after: response.head, verdict: verdict, plan: plan, finalURL: url, sent: [])
            switch verdict {
            case .write(let body):
                if plan.range == nil, !file.isEmpty { wroteOverKept = true }
                kept = data
                return store(response, body, plan: &plan)
            case .restart(let body, _):
                file = []
                kept = data
                return store(response, body, plan: &plan)
            case .complete: return .complete
            case .startOver:
                file = []
                kept = ResumeData()
                return nil
            case .retryPlainRange: plan = ResumeRules.plan(kept: kept, plainRange: true)
            case .proveCondition(let proof): plan = ResumeRules.plan(kept: kept, proof: proof)
            case .notModified: return .failed
            case .suspect(let doubt, _):
                kept.doubt = doubt
                return nil
            case .fail(let error): return error.isRetriable ? nil : .failed
            }
        }
        return nil
    }

    private mutating func store(_ response: Response, _ body: BodyPlan, plan: inout RequestPlan) -> Outcome? {
        let skipped = min(Int(body.skip), response.body.count)
        var new = response.body.dropFirst(skipped)
        let room = Int((body.end ?? .max) - body.offset)
        if new.count > room { new = new.prefix(room) }
        if Int(body.offset) != file.count { wroteOverKept = true }
        file += new
        kept.segments = [Segment(start: 0, committed: Int64(file.count))]
        guard response.isClean else { return nil }
        switch ResumeRules.judgeEnd(of: body, at: Int64(file.count), skipped: Int64(skipped), host: "h") {
        case .complete: return .complete
        case .askOn: return nil
        case .fail(let error): return error.isRetriable ? nil : .failed
        }
    }

    // MARK: The server

    private mutating func respond(to plan: RequestPlan) -> Response {
        if !isHonest, random.chance(0.3) { current = min(current + 1, versions.count - 1) }
        let lies = isHonest ? 0 : Int.random(in: 0...2, using: &random)
        let ignoresIfRange = !isHonest && !honoursIfRange
        var ignoresRange = false
        for _ in 0..<lies where !ignoresIfRange && random.chance(0.1) { ignoresRange = true }
        let version = versions[current]
        guard let range = plan.range, !ignoresRange, ignoresIfRange || allows(plan, version) else {
            return bent(whole(version), lies)
        }
        let first = Int(range.first)
        guard first < version.content.count else {
            let fields = [HeaderField(name: "Content-Range", value: "bytes */\(version.content.count)")]
            return bent(Response(head: ResponseHead(status: 416, fields: fields), body: [], isClean: true), lies)
        }
        return bent(part(version, from: first, lies), lies)
    }

    private func allows(_ plan: RequestPlan, _ version: Version) -> Bool {
        guard let sent = plan.headers.firstValue(named: "If-Range") else { return true }
        return sent == version.validators.etag || sent == version.validators.lastModified
    }

    private func fields(_ version: Version) -> [HeaderField] {
        [
            ("ETag", version.validators.etag), ("Last-Modified", version.validators.lastModified),
            ("Date", "Sun, 06 Nov 1994 10:00:00 GMT"),
        ]
        .compactMap { name, value in value.map { HeaderField(name: name, value: $0) } }
    }

    private func whole(_ version: Version) -> Response {
        let length = HeaderField(name: "Content-Length", value: "\(version.content.count)")
        let head = ResponseHead(status: 200, fields: fields(version) + [length])
        return Response(head: head, body: version.content[...], isClean: true)
    }

    private mutating func part(_ version: Version, from asked: Int, _ lies: Int) -> Response {
        var first = asked
        var end = version.content.count
        for _ in 0..<lies where random.chance(0.3) {
            let shifted = asked + Int.random(in: -3...3, using: &random)
            first = min(max(0, shifted), version.content.count - 1)
        }
        if random.chance(0.3) { end = Int.random(in: first..<end, using: &random) + 1 }
        end = max(end, first + 1)
        let range = HeaderField(name: "Content-Range", value: "bytes \(first)-\(end - 1)/\(version.content.count)")
        let length = HeaderField(name: "Content-Length", value: "\(end - first)")
        let head = ResponseHead(status: 206, fields: fields(version) + [range, length])
        return Response(head: head, body: version.content[first..<end], isClean: true)
    }

    /// Breaks off, drops fields, mislabels ranges so that it can be seen.
    private mutating func bent(_ response: Response, _ lies: Int) -> Response {
        var response = response
        if !isHonest, random.chance(0.5) { breakOff(&response) }
        for _ in 0..<lies {
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                response.head.fields.removeAll { $0.name == "ETag" }
            case 1:
                response.head.fields.removeAll { $0.name == "Last-Modified" || $0.name == "Date" }
            case 2:
                response.head.fields.removeAll { $0.name == "Content-Range" }
                response.head.fields.append(HeaderField(name: "Content-Range", value: "bytes 9-3/5"))
            case 3, 4:
                breakOff(&response)
            default:
                response.head.status = [200, 206, 416, 500].randomElement(using: &random) ?? 500
                if response.head.status == 200, response.head.value("Content-Range") != nil {
                    response.head.status = 500
                }
            }
        }
        return response
    }

    private mutating func breakOff(_ response: inout Response) {
        let count = Int.random(in: 0...response.body.count, using: &random)
        if count < response.body.count { response.isClean = false }
        response.body = response.body.prefix(count)
    }
}
