import XferCore
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
    let directories: DirectoryAdmission
    let policies: PolicyResolver
    let requests: RequestAdmission
    let now: Timestamp

    /// Tasks in the order of the drafts. `path` is put before a field's name in errors: `tasks[3].`
    func admit(_ drafts: [TaskDraft], path: @Sendable (Int) -> String) async throws -> [AdmittedTask] {
        var directories: [String: FileIdentity] = [:]
        var admitted: [AdmittedTask] = []
        admitted.reserveCapacity(drafts.count)
        for (index, draft) in drafts.enumerated() {
            let parsed = try parseURL(draft.url, path: path(index))
            var specification = draft.specification(parsed.url, parsed.credential)
            try await requests.check(specification, path: path(index))
            specification.request.bodySummary = draft.body.map { BodySummary($0) }
            try checkTrust(specification, path: path(index))
            try await admit(
                &specification, knowing: &directories, path: path(index), directoryField: draft.directoryField)
            admitted.append(AdmittedTask(specification: specification, body: draft.body))
        }
        return admitted
    }

    /// Checks priority and destination, and notes which directory the destination's is.
    func admit(
        _ specification: inout TaskSpecification, knowing directories: inout [String: FileIdentity], path: String,
        directoryField: String
    ) async throws {
        guard specification.priority <= principal.maxPriority else {
            throw ManagerError.permissionDenied(
                path: path + "priority", reason: "this user's tasks may have priority \(principal.maxPriority) at most")
        }
        let destination = specification.destination
        if let name = destination.name { try checkName(name, path: path + "output") }
        let identity: FileIdentity
        if let known = directories[destination.directory] {
            identity = known
        } else {
            identity = try await open(destination.directory, path: path + directoryField)
            directories[destination.directory] = identity
        }
        specification.destination.directoryIdentity = identity
        try await refuseDirectory(destination, path: path + "output")
    }

    /// Whether the policies let the first hop be asked at all, and the task's own policy is for it.
    func checkTrust(_ specification: TaskSpecification, path: String) throws {
        do throws(PolicyResolutionError) {
            _ = try policies.admit(specification.request.url.origin, taskPolicy: specification.policy, at: now)
        } catch {
            throw ManagerError(error, path: path)
        }
    }

    private func parseURL(_ text: String, path: String) throws -> CurlURL.Parsed {
        do throws(URLSyntaxError) {
            return try CurlURL.parse(text)
        } catch {
            throw ManagerError.invalidField(
                path: path + "url", reason: error.description, expected: "an absolute http:// or https:// URL")
        }
    }

    // MARK: Where the file goes

    private func checkName(_ name: String, path: String) throws {
        do throws(FileError) {
            _ = try FileName.validateOutput(name)
        } catch {
            throw ManagerError.invalidField(
                path: path, reason: error.description, expected: "a file name or a path to one")
        }
    }

    private func open(_ directory: String, path: String) async throws -> FileIdentity {
        let roots = AllowedRoots(roots: principal.roots, forbidden: settings.forbiddenDirectories)
        do throws(FileError) {
            return try await directories.identity(of: directory, in: roots)
        } catch {
            switch error {
            case .outsideRoots, .forbidden, .notWritable:
                throw ManagerError.permissionDenied(path: path, reason: error.description)
            default:
                throw ManagerError.invalidField(
                    path: path, reason: error.description, expected: "a writable directory below an allowed root")
            }
        }
    }

    /// A directory given as output would otherwise only be noticed after the last byte.
    private func refuseDirectory(_ destination: Destination, path: String) async throws {
        guard let name = destination.name else { return }
        let kind = try? await pool.run { try DirectoryHandle(ofService: destination.directory).status(of: name)?.kind }
        guard kind == .directory else { return }
        throw ManagerError.invalidField(
            path: path, reason: "\(destination.directory)/\(name) is a directory",
            expected: "the path of a file; a directory goes into dir")
    }
}
