import XferCore
import XferCurl
import XferModel
import XferStore

/// One request to a server to delete an upload that will not be continued.
actor RemoteUploadCleanupRun: AttemptMaker {
    let context: RunContext
    var course = AttemptState()
    private let upload: AbandonedUpload

    /// The request's timeout, in seconds.
    private static let patience: Double = 10

    init(_ upload: AbandonedUpload, services: RunServices, settings: ManagerSettings) {
        self.upload = upload
        let specification = upload.specification
        context = RunContext(
            taskID: upload.taskID, specification: specification, services: services, settings: settings,
            control: RunControl(kind: .upload),
            trust: RunTrust(
                policies: services.policies, admission: services.admission, taskPolicy: specification.policy,
                authoritiesFile: settings.authoritiesFile, kept: [], clock: services.clock),
            tries: 1, onBodyEnd: {})
    }

    func stop() async {
        for attempt in control.requestStop() { await services.engine.stop(attempt.id) }
    }

    /// Returns the response head, even if the attempt failed after it.
    ///
    /// - Throws: why there is no response.
    func run() async throws -> ResponseHead {
        guard let cancellation else { throw TransferError(.internalError, "an upload without a place on its server") }
        var request = specification.request.forUpload(cancellation)
        request.timeouts = Timeouts(
            connect: min(request.timeouts.connect, Self.patience), idle: Self.patience, total: Self.patience)
        let ended = try await attempt(request, into: .memory(limit: 64 << 10)) {
            $0.mode = .exchange
        } onEvent: { _, _ in
        }
        if let head = ended.head, !head.isRedirect { return head }
        if case .failed(let error) = ended.result { throw error }
        throw TransferError(.connectionLost, "the try was stopped")
    }

    private var cancellation: UploadRequest? {
        let data = UploadResumeData(url: upload.url)
        return switch specification.upload.uploadProtocol {
        case .plain: nil
        case .tus: TusUpload.cancellation(of: data)
        case .resumable: ResumableUpload.cancellation(of: data)
        }
    }
}
