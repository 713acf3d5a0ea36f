import XferCurl
import XferFiles
import XferModel

/// Judges drafts: turns what a client worded into a specification, or names the field that is at fault.
///
/// Opens each destination directory once per call, which is where roots, links and permissions are really checked.
struct TaskAdmission: Sendable {
    let principal: Principal
    let settings: ManagerSettings
    let pool: BlockingPool

    /// Specifications in the order of the drafts. `path` is put before a field's name in errors: `tasks[3].`
    func admit(_ drafts: [TaskDraft], path: @Sendable (Int) -> String) async throws -> [TaskSpecification] {
        var directories: [String: FileIdentity] = [:]
        var specifications: [TaskSpecification] = []
        specifications.reserveCapacity(drafts.count)
        for (index, draft) in drafts.enumerated() {
            let prefix = path(index)
            let parsed = try parseURL(draft.url, path: prefix + "url")
            var place = try place(of: draft, path: prefix)
            if let known = directories[place.directory] {
                place.directoryIdentity = known
            } else {
                place.directoryIdentity = try await open(place.directory, path: prefix + place.directoryField)
                directories[place.directory] = place.directoryIdentity
            }
            if let name = place.name { try await refuseDirectory(name, in: place, path: prefix + "output") }
            guard draft.priority <= principal.maxPriority else {
                throw ManagerError.permissionDenied(
                    path: prefix + "priority", reason: "this user's tasks may be \(principal.maxPriority) at most")
            }
            specifications.append(specification(draft, url: parsed, place: place))
        }
        return specifications
    }

    private func parseURL(_ text: String, path: String) throws -> CurlURL.Parsed {
        do throws(URLSyntaxError) {
            return try CurlURL.parse(text)
        } catch {
            throw ManagerError.invalidField(
                path: path, reason: error.description, expected: "an absolute http:// or https:// URL")
        }
    }

    // MARK: Where the file goes

    struct Place {
        var directory: String
        var directoryIdentity = FileIdentity(device: 0, inode: 0)
        var name: String?
        /// The parameter that named the directory.
        var directoryField: String
    }

    func place(of draft: TaskDraft, path: String) throws -> Place {
        try place(output: draft.output, directory: draft.directory, path: path)
    }

    /// `output` may be a name, a path below the directory, or an absolute path.
    func place(output: String?, directory: String?, path: String) throws -> Place {
        let base = directory ?? settings.downloadDirectory
        guard base.hasPrefix("/") else {
            throw ManagerError.invalidField(
                path: path + "dir", reason: "\"\(base)\" is not absolute", expected: "an absolute path")
        }
        guard let output else { return Place(directory: base, directoryField: "dir") }
        let cut = output.lastIndex(of: "/")
        let name = try validName(
            cut.map { String(output[output.index(after: $0)...]) } ?? output, path: path + "output")
        guard let cut else { return Place(directory: base, name: name, directoryField: "dir") }
        let head = String(output[..<cut])
        let isAbsolute = output.hasPrefix("/")
        return Place(
            directory: isAbsolute ? (head.isEmpty ? "/" : head) : "\(base)/\(head)", name: name,
            directoryField: "output")
    }

    private func validName(_ name: String, path: String) throws -> String {
        do throws(FileError) {
            return try FileName.validateOutput(name)
        } catch {
            throw ManagerError.invalidField(
                path: path, reason: error.description, expected: "a file name or a path to one")
        }
    }

    /// Opens the directory, making what is missing beneath a root.
    func open(_ directory: String, path: String) async throws -> FileIdentity {
        let roots = AllowedRoots(roots: principal.roots, forbidden: settings.forbiddenDirectories)
        do {
            return try await pool.run { try roots.open(directory: directory, createMissing: true) }.identity
        } catch let error as FileError {
            switch error {
            case .outsideRoots, .forbidden, .notWritable:
                throw ManagerError.permissionDenied(path: path, reason: error.description)
            default:
                throw ManagerError.invalidField(
                    path: path, reason: error.description, expected: "a writable directory below an allowed root")
            }
        }
    }

    /// A directory given as output would only be noticed after the last byte.
    func refuseDirectory(_ name: String, in place: Place, path: String) async throws {
        let directory = place.directory
        let kind = try? await pool.run { try DirectoryHandle(ofService: directory).status(of: name)?.kind }
        guard kind == .directory else { return }
        throw ManagerError.invalidField(
            path: path, reason: "\(directory)/\(name) is a directory",
            expected: "the path of a file; use dir for a directory")
    }

    private func specification(_ draft: TaskDraft, url: CurlURL.Parsed, place: Place) -> TaskSpecification {
        let request = TransferRequest(
            url: url.url, headers: draft.headers, credential: draft.credential ?? url.credential,
            redirect: draft.redirect, allowsDowngrade: draft.allowsDowngrade, httpVersion: draft.httpVersion,
            timeouts: draft.timeouts, acceptedStatus: draft.acceptedStatus)
        let destination = Destination(
            directory: place.directory, directoryIdentity: place.directoryIdentity, name: place.name,
            onConflict: draft.onConflict, mode: draft.mode, usesRemoteTime: draft.usesRemoteTime)
        return TaskSpecification(
            owner: principal.owner, request: request, destination: destination, checksum: draft.checksum,
            retry: RetryLimits(maxRetries: draft.maxRetries, retryFor: draft.retryFor ?? settings.retryFor),
            startsPaused: draft.startsPaused, priority: draft.priority, group: draft.group, label: draft.label,
            clientKey: draft.clientKey, maxReceiveRate: draft.maxReceiveRate, progressInterval: draft.progressInterval,
            resumesUnsafely: draft.resumesUnsafely, meta: draft.meta)
    }
}
