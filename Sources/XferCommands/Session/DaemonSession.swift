import Glibc
import StrictJSON
import XferClient
import XferModel
import XferProtocol

/// A connection to the daemon that the user chose. Its errors end a command.
struct DaemonSession {
    let connection: XferConnection
    /// The daemon that answered, for connecting to it again and to no other.
    let place: SocketLocator.Instance

    /// The longest duration of a call: a large queue is restored before the socket answers.
    static let patience = Duration.seconds(60)

    /// Connects; reports on standard error when it is not the first choice.
    /// - Parameters:
    ///   - interruption: becomes readable when the user presses Ctrl-C.
    ///   - mayStart: true if a daemon of the user's is started if none runs.
    static func open(
        _ instance: SocketLocator.Instance, interruption: Int32? = nil, error: Output = .error, mayStart: Bool = false
    ) throws(CommandFailure) -> DaemonSession {
        do throws(NoDaemonError) {
            let located = try SocketLocator.ofThisProcess().connect(to: instance)
            if let notice = located.fallbackNotice(isRoot: geteuid() == 0) {
                error.line("xferctl: \(SafeText.sanitised(notice))")
            }
            located.connection.interruptDescriptor = interruption
            let place: SocketLocator.Instance =
                if case .server = instance { instance } else { .socket(located.connection.path) }
            return DaemonSession(connection: located.connection, place: place)
        } catch {
            guard mayStart, DaemonStarter.mayStart(after: error) else {
                let status: ExitStatus = error.isRefusal ? .refused : .noDaemon
                throw CommandFailure(status, SafeText.sanitised(error.description))
            }
        }
        error.line("xferctl: \(try DaemonStarter().start())")
        return try open(instance, interruption: interruption, error: error)
    }

    /// Calls a method and returns the answer both unchanged and decoded.
    func call<Method: RPCMethod>(
        _ method: Method.Type, _ params: Method.Params, timeout: Duration? = patience
    ) throws(CommandFailure) -> Answer<Method.Result> {
        let raw: JSONValue
        do throws(CallError) {
            raw = try connection.result(of: method, params, timeout: timeout)
        } catch {
            throw CommandFailure(error)
        }
        return try Self.read(raw, method)
    }

    func call<Method: RPCMethod>(_ method: Method.Type) throws(CommandFailure) -> Answer<Method.Result>
    where Method.Params == NoParams {
        try call(method, NoParams())
    }

    /// All pages of a list of named objects as one answer.
    func all<Method: RPCMethod>(_ method: Method.Type) throws(CommandFailure) -> Answer<Method.Result>
    where Method.Params == NamedPageParams {
        var document: JSONObject?
        var params = NamedPageParams()
        repeat {
            let page = try call(method, params)
            document = PageOptions.joined(document, page.raw)
            let next = page.raw["next_cursor"]?.stringValue
            params.cursor = next == params.cursor ? nil : next
        } while params.cursor != nil
        return try Self.read(.object(document ?? JSONObject()), method)
    }

    /// Calls a method by name.
    func call(
        _ method: String, _ params: JSONValue?, timeout: Duration? = patience
    ) throws(CommandFailure) -> JSONValue {
        do throws(CallError) {
            return try connection.call(method, params, timeout: timeout)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Calls a method whose refusal means something to the caller.
    func attempt<Method: RPCMethod>(
        _ method: Method.Type, _ params: Method.Params
    ) throws(CommandFailure) -> Result<Answer<Method.Result>, RPCFailure> {
        try answer(to: try send(method, params), of: method)
    }

    /// The number of the newest event: a subscription with this as `since` gets all later events.
    func lastEventNumber() throws(CommandFailure) -> Int64 {
        let answer = try call(EventsSubscribe.self, EventsSubscribe.Params(types: [.durable(.taskRemoved)])).value
        _ = try call(EventsUnsubscribe.self, EventsUnsubscribe.Params(subscription: answer.subscription))
        return answer.lastSeq
    }

    /// Says on standard error that the queue is paused, if it is and the caller may see it: what waits for a task would
    /// wait without a word.
    func reportPausedQueue(error: Output = .error) {
        guard let stats = try? call(QueueStats.self).value, stats.paused else { return }
        error.line("xferctl: the queue is paused, and nothing starts before \(SuggestedCommand.text("queue resume"))")
    }

    /// Makes many calls of a method without waiting for each answer; a refused one does not stop the others.
    ///
    /// - Returns: the answers in the order of the calls.
    func calls<Method: RPCMethod>(
        _ method: Method.Type, _ params: [Method.Params]
    ) throws(CommandFailure) -> [Result<Answer<Method.Result>, RPCFailure>] {
        var answers: [Result<Answer<Method.Result>, RPCFailure>] = []
        var pending: ArraySlice<Int64> = []
        for params in params {
            pending.append(try send(method, params))
            if pending.count == Self.window, let id = pending.popFirst() {
                answers.append(try answer(to: id, of: method))
            }
        }
        for id in pending { answers.append(try answer(to: id, of: method)) }
        return answers
    }

    /// The number of calls that are sent before the first is answered: enough to hide the round trip.
    private static let window = 256

    private func send<Method: RPCMethod>(
        _ method: Method.Type, _ params: Method.Params
    ) throws(CommandFailure) -> Int64 {
        do throws(CallError) {
            return try connection.send(method, params, timeout: Self.patience)
        } catch {
            throw CommandFailure(error)
        }
    }

    private func answer<Method: RPCMethod>(
        to id: Int64, of method: Method.Type
    ) throws(CommandFailure) -> Result<Answer<Method.Result>, RPCFailure> {
        let raw: JSONValue
        do throws(CallError) {
            raw = try connection.answer(to: id, timeout: Self.patience)
        } catch {
            if case .refused(let failure) = error { return .failure(failure) }
            throw CommandFailure(error)
        }
        return .success(try Self.read(raw, method))
    }

    private static func read<Method: RPCMethod>(
        _ raw: JSONValue, _ method: Method.Type
    ) throws(CommandFailure) -> Answer<Method.Result> {
        do throws(WireError) {
            return Answer(raw: raw, value: try Method.Result(lenient: raw))
        } catch {
            throw CommandFailure(.refused, "the daemon's answer to \(Method.name) is not understood: \(error)")
        }
    }

    struct Answer<Value> {
        let raw: JSONValue
        let value: Value
    }
}

extension ConnectionOptions {
    /// The daemon that the options select.
    ///
    /// - Throws: `CommandFailure.usage` if the server's URL or token cannot be used.
    func instance() throws(CommandFailure) -> SocketLocator.Instance {
        if let server { return .server(try address(of: server)) }
        if isFleet { return .fleet }
        return if let socket { .socket(socket) } else if isUser { .user } else if isSystem { .system } else {
            .automatic
        }
    }

    private func address(of server: String) throws(CommandFailure) -> ServerAddress {
        guard let tokenFile else { throw .usage("--server needs --token-file") }
        let token = try FileText.read(tokenFile, option: "--token-file")
        do throws(ServerAddress.Fault) {
            var address = try ServerAddress(server, token: token)
            address.authoritiesFile = caFile
            return address
        } catch {
            throw .usage(SafeText.sanitised("\(error == .token ? "--token-file" : "--server"): \(error)"))
        }
    }
}

extension CommandFailure {
    init(_ error: CallError) {
        switch error {
        case .refused(let failure): self.init(failure)
        case .connection(let error): self.init(error)
        case .malformedResult: self.init(.refused, SafeText.sanitised(error.description))
        }
    }

    init(_ error: ConnectionError) {
        switch error {
        case .interrupted: self.init(ExitStatus.interrupted)
        case .timedOut: self.init(.timedOut, SafeText.sanitised(error.description))
        default: self.init(.noDaemon, SafeText.sanitised(error.description))
        }
    }

    /// Creates a failure from the daemon's message, with the field at fault before it and advice after it.
    init(_ failure: RPCFailure) {
        var message = SafeText.sanitised(failure.message)
        if let path = failure.data?.path.map({ SafeText.sanitised($0) }), Self.isTelling(path, message, failure) {
            message = "\(path): \(message)"
        }
        if let advice = Self.advice(failure.knownCode) { message += "; \(advice)" }
        self.init(.refused, message)
    }

    /// True if the field's name is more informative than the message.
    private static func isTelling(_ path: String, _ message: String, _ failure: RPCFailure) -> Bool {
        guard !path.isEmpty, !message.contains(path) else { return false }
        // The message has the id or the name that was given.
        if failure.knownCode == .notFound, ["id", "name"].contains(path) { return false }
        let field = path.split(separator: ".").last ?? path[...]
        return !message.contains(" \(field): ")
    }

    private static func advice(_ code: ErrorCode?) -> String? {
        switch code {
        case .methodNotFound: "this daemon is older than xferctl, or the method's name is wrong"
        case .storageUnavailable:
            "check the daemon's state directory (`xferctl status`); then the daemon continues by itself"
        case .shuttingDown: "repeat the command when it runs again"
        default: nil
        }
    }
}
