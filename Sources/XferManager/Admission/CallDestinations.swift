import XferModel

/// The files that the tasks of one call name. Two of them with one name, but from different sources, could replace each
/// other, and both would end completed.
struct CallDestinations {
    private struct Place: Hashable {
        /// Empty if the directory's identity is known: several paths may lead to it.
        let path: String
        let identity: FileIdentity?
        let name: String
    }

    private struct Content: Equatable {
        let sources: [HTTPURL]
        let checksum: Checksum?
    }

    private var places: [Place: SameFileTasks<Content, AdmittedTask>] = [:]

    /// Throws if an earlier task of the call names the same file and has other URLs or another checksum, and one of the
    /// two replaces an existing file.
    mutating func insert(_ task: AdmittedTask) throws(ManagerError) {
        let destination = task.specification.destination
        guard task.specification.kind == .download, let name = destination.name else { return }
        let identity = destination.directoryIdentity
        let place = Place(path: identity == nil ? destination.directory : "", identity: identity, name: name)
        let content = Content(sources: task.specification.sources, checksum: task.specification.checksum)
        guard
            let earlier = places[place, default: SameFileTasks()].insert(
                task, content: content, destination.onConflict)
        else { return }
        throw .invalidField(
            path: task.path + "output",
            reason: "\(destination.directory)/\(name) is also the file of \(earlier.path.dropLast()), which has "
                + "another URL or checksum: one would replace the other",
            expected: "another name or dir, or on_conflict rename for both")
    }

    /// Throws if one of the tasks would replace another's file.
    static func requireDistinct(_ tasks: [AdmittedTask]) throws(ManagerError) {
        guard tasks.count > 1, tasks.contains(where: \.specification.destination.onConflict.replaces) else { return }
        var destinations = CallDestinations()
        for task in tasks { try destinations.insert(task) }
    }
}
