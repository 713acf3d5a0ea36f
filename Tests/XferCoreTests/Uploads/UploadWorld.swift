import XferCore
import XferModel
import XferTestSupport

/// A client that is killed now and then, a server, and the network between them.
struct UploadWorld {
    enum Troubles { case breaks, all }
    enum Outcome: Hashable { case completed, failed(FailureReason), gaveUp }

    /// One upload resource. Content is kept as the source's ranges in the order they were appended.
    struct Stored {
        var content: [Range<Int64>] = []
        var isComplete = false
        /// The offset a client may append at: what the server said last, true or not.
        var word: Int64? = 0

        var offset: Int64 { content.reduce(0) { $0 + Int64($1.count) } }
    }

    private var random: SplitMix64
    private let isTus: Bool
    private let troubles: Troubles
    private let length: Int64
    private let limit: Int64?
    private let knowsProtocol: Bool
    private let mayRepeat: Bool
    private var stored: [String: Stored] = [:]
    /// Whether some upload became the source and nothing but the source; it stays true when the server forgets it.
    private(set) var holdsSource = false
    private var recorded: UploadResumeData?
    private(set) var outcome = Outcome.gaveUp
    private(set) var violations: [String] = []
    private(set) var log: [String] = []
    private let now = Timestamp(seconds: 1_700_000_000)

    init(seed: UInt64, isTus: Bool, troubles: Troubles) {
        random = SplitMix64(seed: seed)
        self.isTus = isTus
        self.troubles = troubles
        length = [0, 1, 70_000, 1 << 20].randomElement(using: &random) ?? 0
        let isHonest = troubles == .breaks
        limit = !isHonest && Bool.random(using: &random) ? Int64.random(in: 1...400_000, using: &random) : nil
        knowsProtocol = isTus || isHonest || Int.random(in: 0..<5, using: &random) > 0
        mayRepeat = isHonest || Bool.random(using: &random)
    }

    /// Runs until something final happens; each turn is what one run of the service does.
    mutating func run() {
        for _ in 0..<60 {
            let ended =
                isTus
                ? turn(TusUpload(url: .path("/files"), length: length, metadata: "", resumeData: recorded))
                : turn(
                    ResumableUpload(
                        method: .post, url: .path("/files"), length: length, mayRepeat: mayRepeat,
                        resumeData: recorded))
            if let ended {
                outcome = ended
                return
            }
        }
    }

    /// Nil when the run is to be followed by another one.
    private mutating func turn(_ made: some UploadMachine) -> Outcome? {
        var machine = made
        var step = machine.onStart(at: now)
        var isInFlight = false
        for _ in 0..<400 {
            switch step.record {
            case .unchanged: break
            case .keep(let data): recorded = data
            case .forget: recorded = nil
            }
            log.append("\(step.record) \(step.action)")
            switch step.action {
            case .send(let request):
                if isInFlight { violations.append("two requests at once") }
                if chance(30) { return nil }
                isInFlight = true
                step = exchange(request, &machine)
                if step.action == .goOn { return nil }
                isInFlight = false
            case .goOn: return nil
            case .interrupt: step = machine.onInterrupted()
            case .answered, .completed: return .completed
            case .fail(let error): return error.isRetriable ? nil : .failed(error.reason)
            }
        }
        violations.append("a run without end")
        return .gaveUp
    }

    /// One request and what comes of it. `goOn` stands for the client's death while it was in flight.
    private mutating func exchange(_ request: UploadRequest, _ machine: inout some UploadMachine) -> UploadStep {
        checkOffset(of: request)
        let reply = reply(to: request)
        log.append("  \(request.method) \(request.url.target) \(request.content.map { "\($0)" } ?? "-") → \(reply)")
        for interim in reply.interim {
            let step = machine.onInterim(interim.head, location: interim.location, at: now)
            if case .keep(let data) = step.record { recorded = data }
            if chance(40) { return UploadStep(.goOn) }
            guard step.action == .goOn else { return step }
        }
        guard !chance(40) else { return UploadStep(.goOn) }
        guard let head = reply.head else {
            return machine.onBroken(TransferError(.connectionLost, "broken"), wasSent: true)
        }
        if case .answered = machine.peek(head, reply.location, now), !(200...299).contains(head.status) {
            return UploadStep(.fail(TransferError(.httpStatus, "\(head.status)")))
        }
        return machine.onAnswer(head, location: reply.location, at: now)
    }

    private mutating func checkOffset(of request: UploadRequest) {
        guard request.method == .patch else { return }
        let claimed = request.headers.firstValue(named: "Upload-Offset").flatMap { Int64($0) }
        let word = stored[request.url.target]?.word
        if claimed != request.content?.lowerBound || (stored[request.url.target] != nil && claimed != word) {
            violations.append("sent \(request) where the server had said \(word.map { "\($0)" } ?? "nothing")")
        }
    }

    // MARK: The server

    struct Reply {
        var interim: [(head: ResponseHead, location: HTTPURL?)] = []
        /// Nil breaks off.
        var head: ResponseHead?
        var location: HTTPURL?
    }

    private mutating func reply(to request: UploadRequest) -> Reply {
        if chance(12) { return Reply() }
        if troubles == .all, chance(12) {
            let statuses = [409, 423, 500, 503, 429, 403]
            return Reply(head: .of(statuses.randomElement(using: &random) ?? 500))
        }
        let path = request.url.target
        if path == "/files" { return isTus ? createTus() : create(request) }
        if troubles == .all, chance(25) { stored[path] = nil }
        guard let upload = stored[path] else { return Reply(head: .of(404)) }
        return request.method == .head ? offset(of: upload, path) : append(request, to: upload, path)
    }

    private mutating func createTus() -> Reply {
        let path = "/u\(stored.count)-\(random.next() % 1000)"
        stored[path] = Stored()
        noteWhole(path, isComplete: length == 0)
        return chance(10) ? Reply() : Reply(head: .of(201), location: .path(path))
    }

    private mutating func create(_ request: UploadRequest) -> Reply {
        let content = request.content ?? 0..<0
        let isWhole = request.headers.firstValue(named: "Upload-Complete") == "?1"
        guard knowsProtocol else {
            if !isWhole { violations.append("a part for a server that takes it for the whole") }
            if chance(8) { return Reply() }
            if content == 0..<length { holdsSource = true }
            return Reply(head: .of(201))
        }
        if let limit, content.count > limit, chance(3) {
            return Reply(head: .of(413, ["Upload-Limit": "max-append-size=\(limit)", "Upload-Complete": "?0"]))
        }
        let path = "/u\(stored.count)-\(random.next() % 1000)"
        var reply = Reply()
        if chance(2) || troubles == .breaks {
            var fields = ["Upload-Draft-Interop-Version": "8"]
            if let limit { fields["Upload-Limit"] = "max-append-size=\(limit)" }
            reply.interim.append((.of(104, fields), .path(path)))
        }
        stored[path] = Stored()
        return take(content, isLast: isWhole, at: path, reply)
    }

    private mutating func append(_ request: UploadRequest, to upload: Stored, _ path: String) -> Reply {
        let content = request.content ?? 0..<0
        let claimed = request.headers.firstValue(named: "Upload-Offset").flatMap { Int64($0) }
        guard claimed == upload.offset else {
            stored[path]?.word = isTus ? nil : upload.offset
            return Reply(
                head: .of(409, isTus ? [:] : ["Upload-Offset": "\(upload.offset)", "Upload-Complete": "?0"]))
        }
        if let limit, content.count > limit { return Reply(head: .of(413)) }
        if !isTus, upload.isComplete {
            return Reply(
                head: chance(2) ? .of(200, ["Upload-Complete": "?1"]) : .of(409, ["Upload-Complete": "?0"]))
        }
        let isLast = isTus || request.headers.firstValue(named: "Upload-Complete") == "?1"
        return take(content, isLast: isLast, at: path, Reply())
    }

    /// Stores as much as arrives.
    private mutating func take(_ content: Range<Int64>, isLast: Bool, at path: String, _ begun: Reply) -> Reply {
        var reply = begun
        let isBroken = chance(3)
        let end =
            isBroken ? Int64.random(in: content.lowerBound...content.upperBound, using: &random) : content.upperBound
        if end > content.lowerBound { stored[path]?.content.append(content.lowerBound..<end) }
        let offset = stored[path]?.offset ?? 0
        if isTus { noteWhole(path, isComplete: offset == length) }
        guard !isBroken else { return reply }
        if !isTus { noteWhole(path, isComplete: isLast) }
        if chance(10) { return reply }
        if isTus {
            reply.head = .of(204, told(offset, at: path))
        } else if isLast {
            reply.head = .of(200, ["Upload-Complete": "?1"])
        } else {
            var fields = chance(3) ? [:] : told(offset, at: path)
            fields["Upload-Complete"] = "?0"
            reply.head = .of(204, fields)
            reply.location =
                begun.interim.isEmpty && content.lowerBound == 0 ? .path(path) : begun.interim.first?.location
        }
        return reply
    }

    private mutating func noteWhole(_ path: String, isComplete: Bool) {
        stored[path]?.isComplete = isComplete
        guard isComplete, let upload = stored[path] else { return }
        var offset: Int64 = 0
        for range in upload.content where range.lowerBound == offset { offset = range.upperBound }
        if offset == length, upload.offset == length { holdsSource = true }
    }

    private mutating func offset(of upload: Stored, _ path: String) -> Reply {
        var fields = told(upload.offset, at: path)
        if !isTus { fields["Upload-Complete"] = upload.isComplete ? "?1" : "?0" }
        return Reply(head: .of(204, fields))
    }

    /// `Upload-Offset`, now and then one that cannot be.
    private mutating func told(_ offset: Int64, at path: String) -> [String: String] {
        stored[path]?.word = offset
        guard troubles == .all, chance(15) else { return ["Upload-Offset": "\(offset)"] }
        let lies = [nil, "-3", "\(length + 7)", "x", "\(offset).5", "\(-1 - offset)"]
        return (lies.randomElement(using: &random) ?? nil).map { ["Upload-Offset": $0] } ?? [:]
    }

    /// Once in so many times.
    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
}

extension UploadMachine {
    /// What the machine would say to an answer.
    fileprivate func peek(_ head: ResponseHead, _ location: HTTPURL?, _ now: Timestamp) -> UploadAction {
        var copy = self
        return copy.onAnswer(head, location: location, at: now).action
    }
}
