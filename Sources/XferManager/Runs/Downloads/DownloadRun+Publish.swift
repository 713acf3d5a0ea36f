import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// Publishes a complete file: verifies it, makes it durable, renames it, and makes its name durable.
extension DownloadRun {
    /// The greatest length, in bytes, of files that are made durable together. Larger ones would make the others wait.
    private static var largestGathered: Int64 { 1 << 20 }

    /// The final name of the file: the client's, else the server's, else that of a URL (`namingURLs`). Before the
    /// response's head it is the name known so far; after a restart, the one from an earlier run's head.
    var finalName: String {
        if let name = specification.destination.name ?? readyName { return name }
        let head = ResponseHead(status: outcome.httpStatus ?? 0, fields: outcome.responseHeaders)
        return FileName.suggested(
            disposition: head.value("Content-Disposition"),
            urls: specification.namingURLs(last: outcome.finalURL ?? transfer.resumeData.finalURL))
    }

    /// The final name in a form that the directory's file system allows: a suggested name is adapted.
    func finalName(in directory: DirectoryHandle) async -> String {
        let name = finalName
        guard specification.destination.name == nil, readyName == nil else { return name }
        return directory.asksAboutNames
            ? await services.pool(in: directory).run { directory.fitted(name) } : directory.fitted(name)
    }

    /// Throws before the first byte if the file system does not allow the client's name.
    func requireNameable(in directory: DirectoryHandle) async throws {
        guard let name = specification.destination.name else { return }
        guard directory.asksAboutNames else { return try directory.requireNameable(name) }
        try await services.paths.run(in: directory) { _ in try directory.requireNameable(name) }
    }

    /// Verifies and publishes the complete part, whether or not a checkpoint has committed it.
    func publish(_ part: PartialFile, length: Int64, in directory: DirectoryHandle) async throws -> RunEnd {
        try requireAllowedSize(length)
        do {
            try await verify(part, length: length)
        } catch FileError.cancelled {
            return .stopped
        }
        let type = outcome.responseHeaders.firstValue(named: "Content-Type")
        if let warning = specification.warning(aboutType: type, named: finalName) {
            pendingEvents.append(.taskWarning(warning: warning))
        }
        // The cache keeps the response as received, before a hook changes the file.
        await keepInCache(part, length: length)
        guard let hook = specification.completion.postProcess else {
            return try await finish(part, length: length, in: directory)
        }
        guard let processed = try await process(part, length: length, by: hook, in: directory) else { return .stopped }
        defer { processed.file.close() }
        return try await finish(processed.file, length: processed.length, isProcessed: true, in: directory)
    }

    /// Stages the verified file, or publishes it under its final name.
    ///
    /// - Parameter isProcessed: true if a hook made the file. Such a file is already prepared and recorded as ready.
    func finish(
        _ part: PartialFile, length: Int64, isProcessed: Bool = false, in directory: DirectoryHandle
    ) async throws -> RunEnd {
        let isManual = specification.completion.finalize == .manual
        if isManual {
            if !isProcessed {
                control.enter(.processing)
                try await prepare(part, length: length, whole: wholeFacts)
                try await recordReady(part, length: length)
            }
            return control.beginPublishing() ? .staged(size: length) : .stopped
        }
        control.enter(.publishing)
        let name = await finalName(in: directory)
        let continued: ContinuedFile?
        do {
            continued = try await continuedFile(named: name, by: isProcessed ? nil : part, in: directory)
        } catch FileError.cancelled {
            return .stopped
        }
        let policy = continued?.policy ?? specification.destination.onConflict
        if policy.replaces {
            try await ReplacingRules.requireReplaceable(
                name, in: directory, by: specification, services, settings)
        }
        var isReady = isProcessed
        if !isReady, length > Self.largestGathered {
            try await prepare(part, length: length, whole: wholeFacts)
            isReady = true
        }
        let events = pendingEvents
        let isReported = NIOLockedValueBox(false)
        defer { if isReported.withLockedValue(\.self) { pendingEvents.removeFirst(events.count) } }
        let file = PublishingFile(
            content: .part(part), name: name, policy: policy,
            digest: isProcessed ? nil : specification.checksum ?? announcedDigest,
            place: PublishingPlace(directory, of: specification, settings, services),
            attributes: isReady ? nil : attributes(length: length, whole: wholeFacts),
            begins: { [control = control] in control.beginPublishing() },
            isLeaseInForce: { [leases = services.leases, lease = specification.schedule.lease] in
                leases.isInForce(lease)
            })
        let end = await services.publishing.publish(
            file, in: directory,
            committing: intentChange(
                length: isProcessed ? nil : length, reporting: events, unless: isReported, in: directory.identity),
            onIntent: { isReported.withLockedValue { $0 = true } })
        switch end {
        case .skipped:
            return try await skipped(name, in: directory)
        case .stopped:
            return .stopped
        case .published(let intent):
            transfer.publishIntent = intent
            for attribute in part.refusedAttributes {
                let warning = "the file system of \(directory.path) refuses the \(attribute.rawValue) of the file"
                pendingEvents.append(.taskWarning(warning: warning))
            }
            outcome.finalPath = directory.path(of: intent.finalName)
            await continued?.removeLeftovers(in: directory, by: specification, services, settings)
            return .completed(size: length)
        case .failed(let error), .uncertain(let error):
            hasIntent = hasIntent || isReported.withLockedValue(\.self)
            guard let error = error as? FileError, error.leavesPublishableBytes else { throw error }
            if isReported.withLockedValue(\.self) {
                pendingEvents.removeFirst(events.count)
                isReported.withLockedValue { $0 = false }
            }
            // The bytes stay valid even if their directory has been moved, or their name is taken.
            if !isProcessed { try await keep(part, length: length) }
            throw error
        }
    }

    /// Checks the result of a publish that a crash or an error interrupted. Returns nil if there was none, or if the
    /// run has to publish again.
    func finishPublishing(_ ready: ReadyFile?, in directory: DirectoryHandle) async throws -> RunEnd? {
        guard let intent = transfer.publishIntent else { return nil }
        control.enter(.publishing)
        hasIntent = true
        // The file could get its name after this run has found none.
        guard !services.unansweredPublishes.withLockedValue({ [taskID] in $0.contains(taskID) }) else {
            throw FileError.unansweringMount(of: directory.path)
        }
        // A small file had no name before its final one.
        let hadPart = ready != nil || !transfer.resumeData.segments.isEmpty
        let partName = hadPart ? ready?.name ?? transfer.partialName : nil
        switch try await services.recover(intent, partName: partName, in: directory) {
        case .repeat:
            // The name was not given, and the run may fail before it publishes again.
            try await forgetIntent()
            return nil
        case .done:
            await onBodyEnd()
            outcome.finalPath = directory.path(of: intent.finalName)
            return .completed(
                size: ready?.facts?.length ?? transfer.resumeData.totalLength ?? intent.part.length)
        case .lost:
            throw FileError.publishLost(path: directory.path(of: intent.finalName))
        }
    }

    /// Sets permission bits and modification time, and makes the file durable.
    ///
    /// - Parameter whole: the file's metadata when its last byte had arrived; nil where metadata cannot be relied on.
    func prepare(_ file: PartialFile, length: Int64, whole: FileFacts? = nil) async throws {
        let attributes = attributes(length: length, whole: whole)
        try await services.pool(in: file.directory).run {
            try Publisher(directory: file.directory).prepare(file, attributes)
        }
    }

    private func attributes(length: Int64, whole: FileFacts?) -> Publisher.Attributes {
        Publisher.Attributes(
            length: length, mode: specification.destination.mode?.bits ?? settings.fileMode,
            yieldsToDirectory: specification.destination.mode == nil,
            modifiedAt: specification.destination.usesRemoteTime ? lastModified.flatMap(HTTPDate.parse) : nil,
            whole: whole)
    }

    /// Checks the known digests; the length has been checked before. On a mismatch it drops the bytes and throws.
    private func verify(_ part: PartialFile, length: Int64) async throws {
        let demands = DigestDemand.all(
            own: specification.checksum, binding: bindingDigest, announced: announcedDigest)
        for demand in demands {
            switch demand.origin {
            case .task: try await verify(part, length: length, "the task demands", demand.digest, nil)
            case .sharingTask:
                try await verify(part, length: length, "another task demands", demand.digest, .sharedDigest)
            case .server:
                try await verify(part, length: length, "the server announced", demand.digest, .announcedDigest)
            }
        }
    }

    private func verify(
        _ part: PartialFile, length: Int64, _ source: String, _ expected: Checksum, _ cause: FailureCause?
    ) async throws {
        let control = control
        let found = try await services.paths.digests(in: part.directory).run {
            try FileDigest.compute(
                part, algorithm: expected.algorithm, length: length, isCancelled: { control.isStopRequested })
        }
        guard found != expected else { return }
        let error = TransferError(
            .checksumMismatch,
            "\(source) \(expected.description), the \(length) bytes received have \(found.description)", cause: cause)
        try await dropBytes(because: error.message)
        try await services.pool(in: part.directory).run { try part.truncate(to: 0) }
        throw error
    }
}

extension TaskSpecification {
    /// The URLs that may give the file its name, in order of preference.
    ///
    /// A redirect leads from `latest` to the file's own name. With `update`, `verify` and `continue` the file to
    /// compare has to be known before the request; and with mirrors the name must not depend on which of them answers.
    /// In these cases the first URL comes first.
    ///
    /// - Parameter last: the URL that sent the response; nil if that is unknown.
    func namingURLs(last: HTTPURL?) -> [HTTPURL] {
        let urls = [last, request.url].compactMap(\.self)
        return destination.onConflict.compares || !mirrors.isEmpty ? urls.reversed() : urls
    }
}

extension FileError {
    /// True if a publish that failed for this may be repeated with the same bytes.
    fileprivate var leavesPublishableBytes: Bool {
        switch self {
        case .destinationChanged, .unanswering, .cancelled, .nameTaken, .noFreeName, .isADirectory, .isSpecial,
            .nameRefused:
            true
        default: false
        }
    }
}
