import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// One attempt at a delivery: a request under the rules of `data` tasks (trust policies, admission, proxies, rates),
/// without a task.
///
/// It is not a task, so it appends no event, and webhooks get no events about deliveries.
actor WebhookRun: AttemptMaker {
    let context: RunContext
    var attemptState = AttemptState()
    private let webhook: WebhookDefinition
    private let key: String
    /// The events, or the template's text for one, which `run` fills in.
    private var body: [UInt8]
    private let event: String
    private let template: WebhookTemplate?
    private let contentType: String
    private var wasStopped = false

    private static let timeouts = Timeouts(connect: 10, idle: 15, total: 30)
    /// The longest response that is read, in bytes. A longer one is cut off; only its status counts.
    private static let longestAnswer = 64 << 10

    /// - Parameters:
    ///   - key: the request's idempotency key.
    ///   - events: the events as JSON: one, to which the webhook's template is applied, or those of a batch.
    init(_ webhook: WebhookDefinition, key: String, events: [String], services: RunServices, settings: ManagerSettings)
    {
        self.webhook = webhook
        self.key = key
        // The configuration is checked: a template that cannot be read is none.
        let template = webhook.template.flatMap { try? WebhookTemplate($0, contentType: webhook.contentType) }
        event = webhook.isBatched ? "[\(events.joined(separator: ","))]" : events.joined()
        body = Array(event.utf8)
        self.template = template
        contentType = template?.contentType ?? "application/json"
        let request = TransferRequest(
            url: webhook.url, method: .post, redirect: .deny, timeouts: Self.timeouts)
        // The operator has written the URL, so the request is admitted as the operator's.
        let specification = TaskSpecification(
            owner: Owner(uid: settings.ownUID), request: request, destination: Destination(directory: "/"), kind: .data)
        context = RunContext(
            taskID: TaskID(0), specification: specification, services: services, settings: settings,
            control: RunControl(kind: .data),
            trust: RunTrust(
                policies: services.policies, admission: services.admission, taskPolicy: nil,
                authoritiesFile: settings.authoritiesFile, kept: [], clock: services.clock),
            tries: 1, onBodyEnd: {})
    }

    /// The tasks that are notified of the connection's judgement: none.
    var subscribers: [TaskID] { [] }

    func stop() async {
        wasStopped = true
        for attempt in control.requestStop() { await services.engine.stop(attempt.id) }
    }

    enum Answer: Sendable {
        /// The response's head, even if the rest did not arrive.
        case head(ResponseHead)
        /// The reason why there is no response, without secrets.
        case failure(String)
        /// The attempt was stopped, which says nothing about the receiver.
        case stopped
    }

    func run() async -> Answer {
        do {
            if let template { body = Array(template.body(for: event, name: await nameOfTask()).utf8) }
            var request = specification.request
            request.headers = try await fields()
            let sent = body
            let ended = try await attempt(request, into: .memory(limit: Self.longestAnswer)) {
                $0.mode = .exchange
                $0.content = .bytes(sent)
            } onEvent: { _, _ in
            }
            if let head = ended.head, !head.isRedirect { return .head(head) }
            switch ended.result {
            case .failed(let error): return .failure(error.message)
            case .stopped: return .stopped
            default: return .failure("the receiver did not answer")
            }
        } catch let error as TransferError {
            return wasStopped ? .stopped : .failure(error.message)
        } catch {
            return wasStopped ? .stopped : .failure("\(error)")
        }
    }

    /// The file's name of an event without a path; nil if the task was removed.
    private func nameOfTask() async -> String? {
        guard let id = WebhookValues(event).taskWithoutPath,
            let task = try? await services.store.read({ try $0.tasks.find(id) })
        else { return nil }
        let specification = task.specification
        return specification.destination.name
            ?? FileName.suggested(disposition: nil, urls: specification.namingURLs(last: nil))
    }

    /// The header fields. The secret is read and the signature computed at each attempt.
    private func fields() async throws -> [HeaderField] {
        var fields = [
            HeaderField(name: "Content-Type", value: contentType),
            HeaderField(name: "Idempotency-Key", value: "\"\(key)\""),
        ]
        let timestamp = String(services.clock().rawValue / 1_000_000)
        fields.append(HeaderField(name: WebhookSignature.timestampField, value: timestamp))
        guard let place = webhook.secret else { return fields }
        let secret: String
        do throws(SecretFault) {
            secret = try await services.pool.run { [secrets = services.access.secrets] () throws(SecretFault) in
                try secrets.read(place)
            }
        } catch {
            throw TransferError(.credentialMissing, "the secret of webhook \"\(webhook.name)\": \(error)")
        }
        guard !secret.isEmpty, let value = WebhookSignature.value(of: body, timestamp: timestamp, secret: secret) else {
            let fault = secret.isEmpty ? "it is empty" : "libcrypto cannot compute HMAC-SHA-256"
            throw TransferError(
                .credentialMissing, "the secret of webhook \"\(webhook.name)\" cannot be used: \(fault)")
        }
        fields.append(HeaderField(name: WebhookSignature.signatureField, value: value))
        return fields
    }
}

extension WebhookRun.Answer {
    var status: Int? { if case .head(let head) = self { head.status } else { nil } }

    func retryAfter(at now: Timestamp) -> Int64? {
        if case .head(let head) = self { ResponseRules.retryAfter(head, now: now) } else { nil }
    }

    /// The reason why the receiver has not accepted the delivery; nil if it has.
    func failure(from url: HTTPURL, at now: Timestamp) -> String? {
        switch self {
        case .head(let head) where DeliveryRules.isAccepted(head.status): nil
        case .head(let head): ResponseRules.failure(head, from: url, now: now).message
        case .failure(let reason): reason
        case .stopped: "the attempt was stopped"
        }
    }
}

/// The signature by which a receiver knows that a delivery is the service's and was made just now.
///
/// `v1=` and the HMAC-SHA-256 (RFC 2104), in hexadecimal digits, of the timestamp, a full stop and the body. The
/// timestamp is part of it, so that a receiver can refuse a copy that is sent again later.
enum WebhookSignature {
    static let timestampField = "X-Xfer-Timestamp"
    static let signatureField = "X-Xfer-Signature"

    /// The signature, or nil when libcrypto cannot compute it.
    ///
    /// - Parameter timestamp: the value of `timestampField`, seconds since 1970.
    static func value(of body: [UInt8], timestamp: String, secret: String) -> String? {
        let signed = Array(timestamp.utf8) + [UInt8(ascii: ".")] + body
        guard let digest = SecretDigest(key: Array(secret.utf8)).digest(signed) else { return nil }
        return "v1=" + digest.map { hexadecimal($0) }.joined()
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }
}
