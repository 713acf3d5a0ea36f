import XferModel

/// The files that the tasks of one call name. Two of them with one name, but from different sources, would replace each
/// other, and both would end completed.
struct CallDestinations {
    private struct Place: Hashable {
        /// Empty if the directory's identity is known: several paths may lead to it.
        let path: String
        let identity: FileIdentity?
        let name: String
    }

    private var tasks: [Place: AdmittedTask] = [:]

    /// Throws if an earlier task of the call names the same file and has other URLs or another checksum, unless the
    /// later one gets another name (`on_conflict: rename`).
    mutating func insert(_ task: AdmittedTask) throws(ManagerError) {
        let destination = task.specification.destination
        guard task.specification.kind == .download, destination.onConflict != .rename, let name = destination.name
        else { return }
        let identity = destination.directoryIdentity
        let place = Place(path: identity == nil ? destination.directory : "", identity: identity, name: name)
        guard let earlier = tasks[place] else {
            tasks[place] = task
            return
        }
        guard
            earlier.specification.sources != task.specification.sources
                || earlier.specification.checksum != task.specification.checksum
        else { return }
        throw .invalidField(
            path: task.path + "output",
            reason: "\(destination.directory)/\(name) is also the file of \(earlier.path.dropLast()), which has "
                + "another URL or checksum", expected: "another name or dir, or on_conflict rename")
    }

    /// Throws if two of the tasks would replace each other's file.
    static func requireDistinct(_ tasks: [AdmittedTask]) throws(ManagerError) {
        guard tasks.count > 1 else { return }
        var destinations = CallDestinations()
        for task in tasks { try destinations.insert(task) }
    }
}
