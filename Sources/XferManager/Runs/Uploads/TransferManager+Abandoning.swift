import Logging
import XferCore
import XferCurl
import XferModel
import XferStore

/// Telling servers that an upload they keep the beginning of will not be continued.
extension TransferManager {
    /// How long the server is given to answer, in seconds.
    private static let patience: Double = 10

    /// Deletes the upload resource of a cancelled task on its server: once, because the server forgets it by itself some day.
    func abandonUpload(of id: TransferID) async {
        do {
            let found = try await store.read { reader in
                (try reader.upload(of: id), try reader.tasks(subscribingTo: id).first)
            }
            guard let data = found.0, let task = found.1, let request = Self.cancellation(of: data, for: task),
                !isShuttingDown
            else { return }
            let ended = try await attemptAbandoning(request, for: task)
            guard ended.result != .complete || ended.head.map({ $0.status >= 300 }) == true else { return }
            logger.info(
                "the server did not confirm that an upload was given up",
                metadata: [
                    "task": "\(task.id)", "url": "\(data.url)", "status": "\(ended.head?.status ?? 0)",
                    "result": "\(ended.result)",
                ])
        } catch {
            logger.warning("an upload could not be given up", metadata: ["transfer": "\(id)", "error": "\(error)"])
        }
    }

    private static func cancellation(of data: UploadResumeData, for task: TransferTask) -> UploadRequest? {
        switch task.specification.upload.uploadProtocol {
        case .plain: nil
        case .tus: TusUpload.cancellation(of: data)
        case .resumable: ResumableUpload.cancellation(of: data)
        }
    }

    private func attemptAbandoning(_ upload: UploadRequest, for task: TransferTask) async throws -> AttemptOutcome {
        let trust = RunTrust(
            policies: services.policies, admission: services.admission, taskPolicy: task.specification.policy,
            authoritiesFile: settings.authoritiesFile, kept: [], clock: clock)
        var request = task.specification.request.forUpload(upload)
        request.timeouts = Timeouts(
            connect: min(request.timeouts.connect, Self.patience), idle: Self.patience, total: Self.patience)
        let access = try await services.access.access(
            to: task.specification.request, profile: task.specification.profile)
        let handle = await services.engine.start(
            Attempt(
                request: request, sink: .memory(limit: 64 << 10), mode: .exchange, credential: access.credential,
                cookieJar: access.cookieJar, session: access.sessions(heldTo: trust)))
        for await event in handle.events {
            if case .finished(let outcome) = event { return outcome }
        }
        throw TransferError(.internalError, "the attempt ended without an outcome")
    }
}
