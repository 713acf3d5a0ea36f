import XferFiles
public import XferModel
public import XferProtocol

/// Returns known facts about file systems, without accessing a file system.
extension TaskQueries {
    /// The file system of a task's directory; nil if it was not used, or is not mounted.
    public func fileSystem(of task: TransferTask) -> FileSystemRecord? {
        let destination = task.specification.destination
        guard task.specification.kind == .download, !destination.directory.isEmpty else { return nil }
        let (known, mounts) = (FileSystemTraits.known, MountTable.present)
        // A device may have another number since the task was added.
        for device in [destination.directoryIdentity?.device, mounts.device(of: destination.directory)] {
            if let device, let traits = known[device] {
                return FileSystemRecord(traits, at: mounts.mount(of: destination.directory)?.point)
            }
        }
        return nil
    }

    /// The file systems that were used and are still mounted, by mount point.
    public var fileSystems: [FileSystemRecord] {
        let mounts = MountTable.present
        return FileSystemTraits.known.sorted { $0.key < $1.key }
            .map { FileSystemRecord($0.value, at: mounts.mount(ofDevice: $0.key)?.point) }
            .sorted { ($0.mountPoint ?? "") < ($1.mountPoint ?? "") }
    }
}

extension FileSystemRecord {
    fileprivate init(_ traits: FileSystemTraits, at mountPoint: String?) {
        self.init()
        type = traits.name
        self.mountPoint = mountPoint
        isLocal = traits.isLocal
        keepsInodeNumbers = traits.keepsInodeNumbers
        hasJournal = traits.journalsLinks
        missing = FileSystemTraits.Feature.allCases.filter(traits.lacking.contains)
            .compactMap { FileSystemFeature(rawValue: $0.rawValue).map { OpenEnum($0) } }
        names = OpenEnum(FileSystemNames(rawValue: traits.names.rawValue) ?? .unknown)
        longestName = traits.longestName
        largestFile = traits.largestFile
        timeStep = traits.timeStep
    }
}
