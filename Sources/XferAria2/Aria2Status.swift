public import StrictJSON
import XferModel
public import XferProtocol

/// A task as aria2 shows a download: an object of strings.
public struct Aria2Status: Sendable {
    public let task: TaskRecord
    public let gid: Aria2GID

    public init(_ task: TaskRecord, seed: Aria2Seed) {
        self.task = task
        gid = Aria2Marker.gid(ofKey: task.clientKey) ?? Aria2GID(task.id, seed: seed)
    }

    public var state: Aria2State { Aria2State(task.state?.value) }

    /// All keys, in the order in which they are written.
    public enum Key: String, Sendable, CaseIterable {
        case gid, status, totalLength, completedLength, uploadLength, downloadSpeed, uploadSpeed, pieceLength,
            numPieces, connections, errorCode, errorMessage, dir, files
    }

    /// The object with these keys. Unknown keys are left out, as in aria2.
    public func object(_ keys: Set<Key>) -> JSONValue {
        var object = JSONObject()
        for key in Key.allCases where keys.contains(key) {
            if let value = value(of: key) { object.append(newKey: key.rawValue, value) }
        }
        return .object(object)
    }

    /// The size of aria2's piece in bytes; front-ends divide by it.
    private static let pieceLength: Int64 = 1_048_576

    private func value(of key: Key) -> JSONValue? {
        switch key {
        case .gid: .string(gid.description)
        case .status: .string(state.rawValue)
        case .totalLength: Self.text(total)
        case .completedLength: Self.text(received)
        case .uploadLength: Self.text(task.progress?.sent ?? 0)
        case .downloadSpeed: Self.text(rate)
        case .uploadSpeed: "0"
        case .pieceLength: Self.text(Self.pieceLength)
        case .numPieces: Self.text(total / Self.pieceLength + (total % Self.pieceLength == 0 ? 0 : 1))
        case .connections: Self.text(state == .active ? task.progress?.connections ?? 0 : 0)
        case .errorCode: state.isStopped ? .some(Self.text(Int64(clamping: errorNumber))) : .none
        case .errorMessage: state == .error ? task.error.map { .string($0.message) } : nil
        case .dir: .string(directory)
        case .files: files
        }
    }

    private static func text(_ number: Int64) -> JSONValue { .string(String(max(0, number))) }

    private var received: Int64 { task.progress?.received ?? 0 }
    private var total: Int64 { max(0, task.progress?.total ?? 0) }
    private var rate: Int64 { state == .active ? task.progress?.rate ?? 0 : 0 }

    /// The number in `errorCode`.
    public var errorNumber: Int {
        switch state {
        case .error: Aria2ErrorNumber.number(of: task.error?.reason.value, status: task.error?.httpStatus)
        case .removed: Aria2ErrorNumber.removed
        case .active, .waiting, .paused, .complete: Aria2ErrorNumber.success
        }
    }

    private var directory: String {
        if let path = task.finalPath, let slash = path.lastIndex(of: "/") {
            return slash == path.startIndex ? "/" : String(path[..<slash])
        }
        return task.dir ?? ""
    }

    /// The file's path; empty, as with aria2, while the server may still name the file.
    private var path: String {
        if let path = task.finalPath { return path }
        guard let name = task.output, let directory = task.dir else { return "" }
        return directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    }

    // MARK: Files and servers

    /// The one file that a download has.
    public var files: JSONValue {
        [
            [
                "index": "1", "path": .string(path), "length": Self.text(total),
                "completedLength": Self.text(received), "selected": "true", "uris": uris,
            ]
        ]
    }

    /// The mirrors; secrets in them are masked.
    public var uris: JSONValue {
        let isUsed = state == .active || state == .complete
        return .array(
            urls.enumerated().map { index, url in
                ["uri": .string(url), "status": isUsed && index == 0 ? "used" : "waiting"]
            })
    }

    public var urls: [String] { task.urls ?? task.url.map { [$0] } ?? [] }

    /// The server of the present request.
    public var servers: JSONValue {
        let url = urls.first ?? ""
        return [
            [
                "index": "1",
                "servers": [
                    [
                        "uri": .string(url), "currentUri": .string(task.finalURL ?? url),
                        "downloadSpeed": Self.text(rate),
                    ]
                ],
            ]
        ]
    }
}

extension Aria2Status.Key {
    /// The fields of a task that the keys follow from, with those that decide whether it is shown.
    public static func columns(for keys: Set<Self>) -> Aria2Columns {
        var names: Set<String> = ["state", "client_key", "group", "kind", "owner", "finished_at"]
        for key in keys { names.formUnion(key.fields) }
        return Aria2Columns(names.sorted())
    }

    private var fields: [String] {
        switch self {
        case .gid, .status, .pieceLength, .uploadSpeed: []
        case .totalLength, .completedLength, .uploadLength, .downloadSpeed, .numPieces, .connections: ["progress"]
        case .errorCode, .errorMessage: ["error"]
        case .dir: ["dir", "final_path"]
        case .files: ["dir", "output", "final_path", "url", "urls", "progress"]
        }
    }
}

/// The requested fields of tasks.
public struct Aria2Columns: Sendable {
    public let fields: TaskColumns

    init(_ names: [String]) { fields = TaskColumns(names) ?? .listing }

    /// The fields for `getOption`: nearly all.
    public static let all = Aria2Columns(TaskColumns.listing.names)

    /// The fields for `getServers`.
    public static let servers = Aria2Columns(
        Aria2Status.Key.columns(for: [.files, .downloadSpeed]).fields.names + ["final_url"])
}
