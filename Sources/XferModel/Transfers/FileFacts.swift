/// Distinguishes a file from all others that had, or will have, its inode number.
///
/// Ext4 and XFS reuse a number at once, so the number alone is not a proof.
public struct FileMark: Hashable, Sendable {
    public var identity: FileIdentity
    /// The time at which the file was created, in nanoseconds since 1970 (statx(2) `stx_btime`); nil if the file system
    /// does not record it.
    public var bornAt: Int64?
    /// A number that the file system increments, or draws, for each use of an inode number (`FS_IOC_GETVERSION`); nil
    /// where it has none.
    public var generation: UInt32?

    public init(identity: FileIdentity, bornAt: Int64? = nil, generation: UInt32? = nil) {
        self.identity = identity
        self.bornAt = bornAt
        self.generation = generation
    }

    /// True if the mark has more than an inode number, which may have passed to another file.
    public var isCertain: Bool { bornAt != nil || generation != nil }

    /// True if both marks are of one file. The device number is ignored: it may change when the machine restarts.
    public func isSame(as other: FileMark) -> Bool {
        identity.inode == other.identity.inode && bornAt == other.bornAt && generation == other.generation
    }
}

/// Facts that show cheaply that a file is unchanged (stat(2), statx(2)).
public struct FileFacts: Hashable, Sendable {
    public var mark: FileMark
    /// The length in bytes.
    public var length: Int64
    /// Modification time in nanoseconds since 1970.
    public var modifiedAt: Int64
    /// Time of the last change of content or status, which no program can set, in nanoseconds since 1970.
    public var changedAt: Int64

    public init(mark: FileMark, length: Int64, modifiedAt: Int64, changedAt: Int64) {
        self.mark = mark
        self.length = length
        self.modifiedAt = modifiedAt
        self.changedAt = changedAt
    }

    public init(identity: FileIdentity, length: Int64, modifiedAt: Int64, changedAt: Int64) {
        self.init(
            mark: FileMark(identity: identity), length: length, modifiedAt: modifiedAt, changedAt: changedAt)
    }

    public var identity: FileIdentity { mark.identity }

    /// True if these are of the same, unchanged file. A creation time or generation that one of them lacks is
    /// not compared: a new file cannot have the old file's time of last change.
    public func isSame(as other: FileFacts) -> Bool {
        guard identity.inode == other.identity.inode, length == other.length, modifiedAt == other.modifiedAt,
            changedAt == other.changedAt
        else { return false }
        func agree<T: Equatable>(_ one: T?, _ two: T?) -> Bool { one == nil || two == nil || one == two }
        return agree(mark.bornAt, other.mark.bornAt) && agree(mark.generation, other.mark.generation)
    }

    /// True if these are of the same file with the same content, as its length and modification time show; its name and
    /// its status may have changed.
    public func isSameContent(as other: FileFacts) -> Bool {
        mark.isSame(as: other.mark) && length == other.length && modifiedAt == other.modifiedAt
    }
}

/// The record by which the partial file with a transfer's committed bytes is identified.
public struct PartRecord: Hashable, Sendable {
    /// The facts of a file that is no longer written.
    public struct Rest: Hashable, Sendable {
        public var length: Int64
        /// The modification time in nanoseconds since 1970. The time of the last change of status is not used, since
        /// `chmod -R` sets it, too.
        public var modifiedAt: Int64

        public init(length: Int64, modifiedAt: Int64) {
            self.length = length
            self.modifiedAt = modifiedAt
        }
    }

    /// The result has the unknown identity if the file was on another machine: then `rest` identifies a copy of it.
    public var mark: FileMark
    /// The facts as this service left them; nil while it may write to the file, and where times are not reliable.
    public var rest: Rest?

    public init(mark: FileMark, rest: Rest? = nil) {
        self.mark = mark
        self.rest = rest
    }

    /// Records the facts of a file that is no longer written.
    public init(resting facts: FileFacts) {
        self.init(mark: facts.mark, rest: Rest(length: facts.length, modifiedAt: facts.modifiedAt))
    }
}
