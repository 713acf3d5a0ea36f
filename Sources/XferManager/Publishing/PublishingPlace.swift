import XferFiles
import XferModel

/// A path that leads to a directory, opened with the rights of an owner: where other programs find what is published.
struct PublishingPlace: Sendable {
    /// Places with the same key are the same.
    struct Key: Hashable, Sendable {
        let path: String
        let owner: Owner
        let confinement: Confinement?
    }

    /// The reason why a place does not lead to its directory.
    enum Problem: Error, Hashable, Sendable {
        /// It leads elsewhere, or cannot be opened with the owner's rights.
        case elsewhere(String)
        /// That could not be found out.
        case unknown(FileError)

        /// - Parameter path: of the file that should be found there.
        func error(for path: String) -> FileError {
            switch self {
            case .elsewhere(let problem): .destinationChanged(path: path, problem: problem)
            case .unknown(let error): error
            }
        }
    }

    let key: Key
    /// Opens the path again, beneath a root of the owner's. Blocks.
    let reopen: @Sendable () throws -> DirectoryHandle
    /// The threads that open a guest's path, which may never answer; nil for an operator's, which is opened on those of
    /// the directory.
    let guestPool: BlockingPool?

    /// Checks that the path leads to the directory now, so that a client finds a file under it. Blocks.
    func check(_ directory: DirectoryHandle) -> Result<Void, Problem> {
        let another = Problem.elsewhere("another directory is there now")
        do {
            return try reopen().identity == directory.identity ? .success(()) : .failure(another)
        } catch let error as FileError where directory.isForUsers && error.isDescriptorShortage {
            return .failure(.unknown(error))
        } catch FileError.notWritable where !directory.isForUsers, FileError.system where !directory.isForUsers {
            // The identity of the directory can be compared all the same.
            return directory.isSame(asPath: directory.path) ? .success(()) : .failure(another)
        } catch FileError.missing {
            return .failure(.elsewhere("the directory is gone from there"))
        } catch {
            return .failure(.elsewhere("\(error)"))
        }
    }

    /// The error of a path that does not answer.
    var unanswering: FileError {
        .unanswering(path: key.path, mountPoint: MountTable.present.mount(of: key.path)?.point ?? "/")
    }
}

extension PublishingPlace {
    /// The place of a task's file in an open directory.
    init(
        _ directory: DirectoryHandle, of task: TaskSpecification, _ settings: ManagerSettings, _ services: RunServices
    ) {
        let isOperator = settings.isOperator(task.owner)
        self.init(
            key: Key(path: directory.path, owner: task.owner, confinement: task.destination.confinement),
            reopen: DestinationDirectory.reopening(directory, for: task, settings, services),
            guestPool: isOperator ? nil : services.pool(of: task.owner, in: directory))
    }
}
