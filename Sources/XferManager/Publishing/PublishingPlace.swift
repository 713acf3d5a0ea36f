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

    let key: Key
    /// Opens the path again, beneath a root of the owner's. Blocks.
    let reopen: @Sendable () throws -> DirectoryHandle
    /// The threads that open a guest's path, which may never answer; nil for an operator's, which is opened on those of
    /// the directory.
    let guestPool: BlockingPool?

    /// The error of a file that is not found under the path, nil if the path leads to the directory now. Blocks.
    func problem(with directory: DirectoryHandle) -> FileError? {
        let problem: String
        do {
            if try reopen().identity == directory.identity { return nil }
            problem = "another directory is at this path now"
        } catch let error as FileError where directory.isForUsers && error.isDescriptorShortage {
            return error
        } catch FileError.notWritable where !directory.isForUsers, FileError.system where !directory.isForUsers {
            // The identity of the directory can be compared all the same.
            if directory.isSame(asPath: directory.path) { return nil }
            problem = "another directory is at this path now"
        } catch FileError.missing {
            problem = "the directory was moved or removed"
        } catch {
            problem = "\(error)"
        }
        return .destinationChanged(path: directory.path, problem: problem)
    }

    /// The error of a path that does not answer.
    var unanswering: FileError { .unansweringMount(of: key.path) }
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
