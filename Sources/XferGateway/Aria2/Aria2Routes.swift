import JSONRPC
import StrictJSON
import XferAria2

// aria2's dialects over HTTP. Both take their token from the body, or from `Authorization`.
extension Aria2Facade {
    static let jsonPath = "/jsonrpc"
    /// The path of XML-RPC. aria2's own is `/rpc`, which this service uses for JSON-RPC.
    static let xmlPath = "/aria2/rpc"
    /// Paths that are answered without `Authorization`, since the body may contain a token.
    static let paths: Set<String> = [jsonPath, xmlPath]
    /// The highest number of bytes of a message, which is read before its tokens are known.
    static let maxMessageBytes = 256 << 10

    var routes: [HTTPRoute] {
        [
            HTTPRoute(Self.jsonPath, methods: ["POST"], maxBodyBytes: Self.maxMessageBytes) {
                [self] request, connection in
                await answerJSON(request.body, connection)
            },
            HTTPRoute(Self.xmlPath, methods: ["POST"], maxBodyBytes: Self.maxMessageBytes) {
                [self] request, connection in
                await answerXML(request.body, connection)
            },
        ]
    }

    private func answerJSON(_ body: [UInt8], _ connection: RPCConnection) async -> HTTPAnswer {
        let session = Aria2Session(connection, users)
        let message = Aria2Message(
            parsing: body, maxDepth: limits.nestingDepth, maxCalls: limits.batchRequests)
        var isUnauthorized = false
        let answer: Aria2Answer
        switch message {
        case .refused(let fault):
            answer = Aria2Answer(.failure(fault), id: .null)
        case .single(let call):
            answer = await self.answer(call, session, &isUnauthorized)
        case .batch(let calls):
            var answers: [Aria2Answer] = []
            var room = limits.messageBytes
            for call in calls {
                let next =
                    room > 0
                    ? await self.answer(call, session, &isUnauthorized)
                    : Aria2Answer(.failure(.tooLong(limits.messageBytes)), id: call.id)
                room -= next.text.count
                answers.append(next)
            }
            answer = Aria2Answer(batch: answers)
        }
        // One delay for a whole message: its calls could be sent one by one at the same time.
        if isUnauthorized { try? await Task.sleep(for: AccessGate.delay) }
        guard answer.text.count <= limits.messageBytes else {
            return Self.http(Aria2Answer(.failure(.tooLong(limits.messageBytes)), id: .null))
        }
        return Self.http(answer)
    }

    private func answer(
        _ call: Aria2Call, _ session: Aria2Session, _ isUnauthorized: inout Bool
    ) async -> Aria2Answer {
        switch call {
        case .invalid(let id, let fault):
            return Aria2Answer(.failure(fault), id: id)
        case .request(let id, let method, let params):
            let outcome = await perform(method, params, for: session)
            if outcome.isUnauthorized { isUnauthorized = true }
            return Aria2Answer(outcome.result, id: id)
        }
    }

    private static func http(_ answer: Aria2Answer) -> HTTPAnswer {
        HTTPAnswer(status: answer.status, contentType: "application/json-rpc", body: .bytes(answer.text))
    }

    private func answerXML(_ body: [UInt8], _ connection: RPCConnection) async -> HTTPAnswer {
        let outcome: Outcome
        do throws(XMLRPCFault) {
            let call = try XMLRPCCall(parsing: body)
            outcome = await perform(call.method, call.params, for: Aria2Session(connection, users))
        } catch {
            outcome = Outcome(result: .failure(Aria2Fault("\(error)", code: Aria2Fault.parseError.code)))
        }
        if outcome.isUnauthorized { try? await Task.sleep(for: AccessGate.delay) }
        // XML-RPC has faults in answers with status 200.
        var text = XMLRPCAnswer.text(outcome.result)
        if text.count > limits.messageBytes { text = XMLRPCAnswer.text(.failure(.tooLong(limits.messageBytes))) }
        return HTTPAnswer(contentType: "text/xml", body: .bytes(text))
    }
}

extension Aria2Fault {
    /// The error for an answer that would be longer than messages may be.
    static func tooLong(_ limit: Int) -> Aria2Fault {
        Aria2Fault("the answer is longer than \(limit) bytes: request fewer downloads or keys")
    }
}
