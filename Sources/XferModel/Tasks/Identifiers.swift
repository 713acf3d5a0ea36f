/// Identifies a task. Allocated by the database inside the INSERT, never reused, shown to clients as an integer.
public struct TaskID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: TaskID, right: TaskID) -> Bool { left.rawValue < right.rawValue }
    public var description: String { String(rawValue) }
}

/// Identifies a transfer: one network operation and its resume data. Never reused; part of the partial file's name.
public struct TransferID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: TransferID, right: TransferID) -> Bool { left.rawValue < right.rawValue }
    public var description: String { String(rawValue) }
}

/// The owner of a task: the uid the kernel reported for the client's end of the socket (`SO_PEERCRED`, socket(7)).
public struct Owner: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public init(uid: UInt32) { self.rawValue = uid }

    public var description: String { String(rawValue) }
}
