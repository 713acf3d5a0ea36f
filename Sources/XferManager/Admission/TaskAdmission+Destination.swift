import Glibc
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferProtocol
import XferStore

/// The destinations of tasks: their directories, and the names that tasks set.
extension TaskAdmission {
    /// Directories that were opened for earlier tasks of a call.
    struct KnownDirectories {
        fileprivate struct Key: Hashable {
            let directory: String
            let allowsHidden: Bool
        }

        fileprivate var identities: [Key: FileIdentity] = [:]
    }

    /// Checks the destination, confines it as the caller is, and records the identity of its directory.
    func admitDestination(
        of specification: inout TaskSpecification, knowing directories: inout KnownDirectories, path: String,
        directoryField: String
    ) async throws {
        // Tasks of other kinds have no destination; the service keeps their response.
        guard specification.kind == .download else { return }
        if let confinement = settings.confinement(of: principal) { specification.destination.confinement = confinement }
        let destination = specification.destination
        if let name = destination.name { try checkName(name, path: path + "output") }
        let key = KnownDirectories.Key(
            directory: destination.directory, allowsHidden: destination.allowsHidden)
        let identity: FileIdentity
        if let known = directories.identities[key] {
            identity = known
        } else {
            identity = try await open(destination, path: path + directoryField)
            directories.identities[key] = identity
        }
        guard identity != .unknown else {
            // Its file system is not mounted, or does not answer: the run finds out which directory it is.
            try refuseHidden(destination, path: path + "output")
            specification.destination.directoryIdentity = nil
            return
        }
        try await checkAllowedName(destination, path: path + "output")
        specification.destination.directoryIdentity = identity
        try await requireFile(destination, path: path + "output")
        try await checkReplacement(by: specification, path: path + "output")
    }

    private func checkName(_ name: String, path: String) throws {
        do throws(FileError) {
            _ = try FileName.validateOutput(name)
        } catch {
            throw ManagerError.invalidField(
                path: path, reason: error.description, expected: "a file name or a path to one")
        }
    }

    private func open(_ destination: Destination, path: String) async throws -> FileIdentity {
        do throws(FileError) {
            return try await directories.identity(of: destination.directory, in: await roots(destination))
        } catch FileError.unmounted, FileError.unanswering {
            return .unknown
        } catch {
            let refused = refusal(error, path: path)
            // The caller may have named none.
            guard case .notWritable = error, destination.directory == rights.downloadDirectory,
                case .permissionDenied(let path, let reason) = refused
            else { throw refused }
            throw ManagerError.permissionDenied(
                path: path,
                reason: "\(reason); \(destination.directory) is the daemon's own directory (download.dir): "
                    + "specify another one")
        }
    }

    private func refusal(_ error: FileError, path: String) -> ManagerError {
        if error.isDescriptorShortage { return .outOfDescriptors }
        switch error {
        case .outsideRoots(let directory, let roots):
            let advice = RootsAdvice(
                refused: directory, roots: roots, file: settings.configurationFile, grants: settings.grants)
            if principal.isOperator { return .permissionDenied(path: path, reason: advice.ofOperator) }
            let owner = principal.owner
            guard settings.isOperator(owner) else {
                return .permissionDenied(
                    path: path, reason: principal.isConfined ? advice.ofGuestsToken(owner) : advice.ofGuest(owner))
            }
            let own =
                if case .directory(let directory) = principal.confinement {
                    directory
                } else {
                    rights.downloadDirectory
                }
            return .permissionDenied(path: path, reason: advice.ofOperatorsToken(beneath: own))
        case .notWritable(let directory, EROFS):
            return .permissionDenied(
                path: path,
                reason: "\(error.description); if that is the sandbox of the daemon's unit: systemctl edit xferd, "
                    + "[Service], ReadWritePaths=\(directory)")
        case .forbidden, .outsideConfinement, .hidden, .notWritable, .notPermitted, .undecidable:
            return .permissionDenied(path: path, reason: error.description)
        default:
            return .invalidField(
                path: path, reason: error.description, expected: "a writable directory below an allowed root")
        }
    }

    /// Throws if the name is hidden and hidden names are not allowed everywhere.
    private func refuseHidden(_ destination: Destination, path: String) throws {
        guard let name = destination.name, HiddenComponents.isHidden(name),
            destination.confinement != nil || !destination.allowsHidden
        else { return }
        throw ManagerError.invalidField(
            path: path, reason: "it begins with a dot, and \(destination.directory) cannot be inspected now",
            expected: "another name, or allow_hidden")
    }

    /// Throws if a file of that name is refused in the directory, which has been opened.
    private func checkAllowedName(_ destination: Destination, path: String) async throws {
        guard let name = destination.name, HiddenComponents.isHidden(name) else { return }
        let roots = await roots(destination)
        do throws(FileError) {
            try await paths.pool(of: principal, forPath: destination.directory).run { () throws(FileError) in
                try roots.requireAllowedName(name, in: destination.directory)
            }
        } catch {
            throw refusal(error, path: path)
        }
    }

    /// The directories for the caller's files. Runs on the pool, because the lookup of the account may block.
    private func roots(_ destination: Destination) async -> AllowedRoots {
        guard !principal.isOperator else { return rights.destinationRoots(destination, of: principal) }
        return await pool.run { [rights, principal] in rights.destinationRoots(destination, of: principal) }
    }

    /// Throws if the output is a directory, a device, a FIFO or a socket. It would be noticed only after the last byte
    /// otherwise, and a file beside `/dev/null` is never what the caller wanted.
    private func requireFile(_ destination: Destination, path: String) async throws {
        guard let name = destination.name else { return }
        let roots = await roots(destination)
        let kind: FileStatus.Kind?
        if let known = directories.inspectable(destination.directory, roots) {
            kind = known.kind(of: name)
        } else {
            kind = try? await paths.pool(of: principal, forPath: destination.directory).run {
                let isOperators = roots.users.isEmpty
                let directory =
                    isOperators
                    ? try DirectoryHandle(ofService: destination.directory)
                    : try roots.open(directory: destination.directory)
                return try directory.status(of: name)?.kind
            }
        }
        let found = destination.directory + (destination.directory == "/" ? "" : "/") + name
        switch kind {
        case .directory?:
            throw ManagerError.invalidField(
                path: path, reason: "\(found) is a directory",
                expected: "the path of a file; a directory goes into dir")
        case .other?:
            throw ManagerError.invalidField(
                path: path, reason: FileError.isSpecial(path: found).description,
                expected: "the path of a file")
        case .regular?, .symbolicLink?, nil: break
        }
    }

    /// Throws if the task would replace a file that it may not. The publishing checks it again; without this check the
    /// caller would learn it only after the last byte.
    private func checkReplacement(by specification: TaskSpecification, path: String) async throws {
        let destination = specification.destination
        let hasOperatorRights = settings.hasOperatorRights(specification)
        guard destination.onConflict.replaces, let name = destination.name,
            destination.confinement != nil || !hasOperatorRights
        else { return }
        let roots = await roots(destination)
        // If the directory is gone meanwhile, the run reports it.
        let pool = paths.pool(of: principal, forPath: destination.directory)
        guard let directory = try? await pool.run({ try roots.open(directory: destination.directory) }) else { return }
        let reason: String?
        do {
            reason = try await ReplacingRules.refusal(
                of: name, in: directory, by: specification, hasOperatorRights: hasOperatorRights, pool, requests.store)
        } catch let error as FileError {
            throw refusal(error, path: path)
        }
        if let reason { throw ManagerError.permissionDenied(path: path, reason: reason) }
    }
}
