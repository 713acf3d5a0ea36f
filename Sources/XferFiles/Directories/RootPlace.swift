public import XferModel

/// The place of a root of destinations, which distinguishes the bare mount point of a disk from the disk.
///
/// The service stores it across restarts. A new task would otherwise write to whatever is beneath a disk that is not
/// mounted.
public struct RootPlace: Hashable, Sendable {
    /// The root, links followed; nil if it does not exist.
    public var identity: FileIdentity?
    /// The path where its file system is mounted.
    public var mountPoint: String

    public init(identity: FileIdentity?, mountPoint: String) {
        self.identity = identity
        self.mountPoint = mountPoint
    }

    /// The present place of a root.
    public struct Present: Hashable, Sendable {
        public let place: RootPlace
        /// The root, links followed.
        public let path: String

        /// Blocks. A directory that an automounter mounts at its use is mounted.
        public init(ofRoot path: String) throws(FileError) {
            self.path = try ResolvedPath(path).whole
            let identity = FileIdentity(ofPath: self.path + "/.")
            place = RootPlace(identity: identity, mountPoint: MountTable.present.mount(of: self.path)?.point ?? "/")
        }
    }

    /// True if the root's file system is not mounted. A link that leads elsewhere now is not a missing file system.
    public func isHidden(at present: Present) -> Bool {
        isHidden(at: present.place)
            && (present.place.identity == nil || ResolvedPath.isWithin(present.path, mountPoint))
    }

    /// True if the present place is the mount point beneath this one's file system, which is not mounted.
    ///
    /// A device may have another number after a restart, and a directory may be created again: it counts as another one
    /// only if device and inode both differ. A disk that replaces the first one is not a reason to wait.
    func isHidden(at present: RootPlace) -> Bool {
        if let identity, let found = present.identity,
            identity.device == found.device || identity.inode == found.inode
        {
            return false
        }
        return mountPoint != present.mountPoint && ResolvedPath.isWithin(mountPoint, present.mountPoint)
    }

    /// The roots of this list that contain a path, by its text.
    public static func roots(_ roots: [String], containing path: String) -> [String] {
        let tidy = ResolvedPath.tidy(path)
        return roots.filter { ResolvedPath.isWithin(tidy, ResolvedPath.tidy($0)) }
    }

    /// True for the system's places for temporary files, which are in memory on many machines: tasks do not wait for them.
    private static func isTemporary(_ mountPoint: String) -> Bool {
        ["/tmp", "/var/tmp", "/dev/shm"].contains(mountPoint) || ResolvedPath.isWithin(mountPoint, "/run")
    }

    /// The present place of the mount that contains a path, links followed; nil if that is the root file system or a
    /// temporary one. Blocks.
    public static func mount(of path: String) throws(FileError) -> RootPlace? {
        let mount = MountTable.present.mount(of: try ResolvedPath(path).whole)
        guard let mount, mount.point != "/", !isTemporary(mount.point) else { return nil }
        return RootPlace(identity: FileIdentity(ofPath: mount.point), mountPoint: mount.point)
    }

    /// The recorded mounts that contain a path, links followed, although its present mount is an outer one. Blocks.
    public static func mounts(_ mounts: [RootPlace], missingAt path: String) throws(FileError) -> [RootPlace] {
        guard !mounts.isEmpty else { return [] }
        let whole = try ResolvedPath(path).whole
        let present = MountTable.present.mount(of: whole)?.point ?? "/"
        return mounts.filter {
            ResolvedPath.isWithin(whole, $0.mountPoint) && !ResolvedPath.isWithin(present, $0.mountPoint)
        }
    }
}

extension RootPlace {
    /// The text that is stored: `DEVICE INODE MOUNT-POINT`.
    public var text: String { "\(identity?.device ?? 0) \(identity?.inode ?? 0) \(mountPoint)" }

    /// Reads a stored text; nil if it does not have this form.
    public init?(text: String) {
        let fields = text.split(separator: " ", maxSplits: 2)
        guard fields.count == 3, let device = UInt64(fields[0], radix: 10), let inode = UInt64(fields[1], radix: 10),
            fields[2].hasPrefix("/")
        else { return nil }
        let identity = FileIdentity(device: device, inode: inode)
        self.init(identity: device == 0 && inode == 0 ? nil : identity, mountPoint: String(fields[2]))
    }
}
