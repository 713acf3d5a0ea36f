import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
public import XferModel

/// An HTTP/1.1 server on 127.0.0.1 that accepts uploads by one of three protocols, written from the protocols' texts,
/// and fails where a test requests it.
///
/// Uploads are made at `/files`. Bytes are stored as they arrive, so that a broken request leaves its beginning. A new
/// request about an upload ends the one in progress (draft-ietf-httpbis-resumable-upload, Concurrency). Stops with the
/// last reference.
public final class UploadServer: Sendable {
    /// The protocol that it uses.
    public enum Dialect: Sendable {
        case tus
        /// Resumable uploads: draft-ietf-httpbis-resumable-upload, interop version 8.
        case resumable
        /// A plain upload: one request for one file.
        case plain
    }

    /// Its behaviour without faults.
    public struct Behaviour: Sendable {
        /// Bytes per second that it reads of a content; 0 is unlimited.
        public var readRate: Int64 = 0
        /// The highest number of bytes that it accepts in one request; more is refused with 413.
        public var largestAppend: Int64?
        /// True if it announces that limit (`Upload-Limit`).
        public var announcesLimit = true
        /// True if it joins parts (tus, Concatenation).
        public var joinsParts = true
        /// Seconds until an upload is removed; nil keeps it.
        public var lifetime: Int64?
        /// Bytes between two 104s that report the offset.
        public var progressInterval: Int64 = 1 << 20
        /// Answer to a complete upload.
        public var finalStatus = 200
        public var finalHeaders: [HeaderField] = []
        public var finalBody = ""
        /// True if a request about a complete upload gets the final answer again.
        public var replaysAnswer = true

        public init() {}
    }

    public let port: Int
    private let state: UploadServerState
    private let listener: NIOLockedValueBox<any Channel>

    /// Listens on a free port.
    public init(_ dialect: Dialect, _ behaviour: Behaviour = Behaviour()) async throws {
        let state = UploadServerState(dialect, behaviour, directory: try TemporaryDirectory("xfer-uploads"))
        let channel = try await Self.listen(port: 0, state)
        guard let port = channel.localAddress?.port else { throw TimedOut("the server has no port") }
        self.port = port
        self.state = state
        listener = NIOLockedValueBox(channel)
    }

    deinit { listener.withLockedValue { $0.close(promise: nil) } }

    private static func listen(port: Int, _ state: UploadServerState) async throws -> any Channel {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let executor = ServerExecutor(eventLoop)
        return try await ServerBootstrap(group: eventLoop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)
                    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(decoder))
                    let wire = try UploadConnection.Wire(wrappingChannelSynchronously: channel)
                    Task(executorPreference: executor) { await UploadConnection(wire: wire, state: state).run() }
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
    }

    /// Accepts no new connections; existing ones stay.
    public func stop() async throws { try await listener.withLockedValue { $0 }.close() }

    /// Listens again, on the same port.
    public func resume() async throws {
        let channel = try await Self.listen(port: port, state)
        listener.withLockedValue { $0 = channel }
    }

    /// `http://127.0.0.1:port` and the path.
    public func url(_ path: String = "/files") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Injects faults into the next requests with this method, in this order, one fault each.
    public func inject(_ faults: UploadFault..., on method: String) {
        state.box.withLockedValue { $0.faults[method, default: []] += faults }
    }

    /// Every request so far, in the order their heads arrived.
    public var requests: [RecordedUploadRequest] { state.box.withLockedValue(\.requests) }

    /// The methods of all requests so far.
    public var methods: [String] { requests.map(\.method) }

    /// All uploads, in the order of their creation.
    public var uploads: [StoredUpload] {
        state.box.withLockedValue { values in values.order.compactMap { values.uploads[$0] } }
    }

    /// Number of uploads ever made.
    public var creationCount: Int { state.box.withLockedValue(\.order.count) }

    /// Content bytes that arrived in all requests.
    public var receivedBytes: Int64 { requests.reduce(0) { $0 + $1.received } }
}

/// The state that the server's connections share.
final class UploadServerState: Sendable {
    struct Values {
        var requests: [RecordedUploadRequest] = []
        var faults: [String: [UploadFault]] = [:]
        var uploads: [String: StoredUpload] = [:]
        var order: [String] = []
        /// Connections with a request about an upload under way.
        var active: [String: any Channel] = [:]
        var hasHeld = false
    }

    let dialect: UploadServer.Dialect
    let behaviour: UploadServer.Behaviour
    let directory: TemporaryDirectory
    let box = NIOLockedValueBox(Values())

    init(_ dialect: UploadServer.Dialect, _ behaviour: UploadServer.Behaviour, directory: TemporaryDirectory) {
        self.dialect = dialect
        self.behaviour = behaviour
        self.directory = directory
    }

    deinit {
        for upload in box.withLockedValue(\.uploads).values { close(upload.descriptor) }
    }

    /// Records a request; returns its number and its fault.
    func record(_ request: RecordedUploadRequest) -> (index: Int, fault: UploadFault?) {
        box.withLockedValue { values in
            values.requests.append(request)
            let index = values.requests.count - 1
            guard let fault = values.faults[request.method]?.first else { return (index, nil) }
            values.faults[request.method]?.removeFirst()
            return (index, fault)
        }
    }

    func makeUpload(length: Int64?, headers: [HeaderField], isPart: Bool = false) throws -> StoredUpload {
        try box.withLockedValue { values in
            let target = "/uploads/\(values.order.count + 1)"
            let file = directory.file("\(values.order.count + 1)")
            let descriptor = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw PosixError("open \(file)") }
            let upload = StoredUpload(
                target: target, length: length, isPart: isPart, headers: headers, file: file, descriptor: descriptor)
            values.uploads[target] = upload
            values.order.append(target)
            return upload
        }
    }

    func upload(_ target: String) -> StoredUpload? { box.withLockedValue { $0.uploads[target] } }

    func forget(_ target: String) {
        if let upload = box.withLockedValue({ $0.uploads.removeValue(forKey: target) }) { close(upload.descriptor) }
    }

    func complete(_ target: String) { box.withLockedValue { $0.uploads[target]?.isComplete = true } }

    /// Writes the parts' bytes into a new upload, in this order; nil unless all of them are complete parts.
    func join(_ targets: [String], headers: [HeaderField]) throws -> StoredUpload? {
        let parts = targets.compactMap(upload).filter { $0.isPart && $0.isComplete }
        guard parts.count == targets.count else { return nil }
        let bytes = try parts.flatMap { try FileTree.read($0.file) }
        let whole = try makeUpload(length: Int64(bytes.count), headers: headers)
        guard pwrite(whole.descriptor, bytes, bytes.count, 0) == bytes.count else { throw PosixError("pwrite") }
        box.withLockedValue { $0.uploads[whole.target]?.offset = Int64(bytes.count) }
        complete(whole.target)
        return whole
    }

    /// Appends to an upload; false when it was removed, or another request has taken it over.
    func append(_ bytes: [UInt8], to target: String, request: Int, from channel: any Channel) -> Bool {
        box.withLockedValue { values in
            guard let upload = values.uploads[target], values.active[target] === channel else { return false }
            values.requests[request].received += Int64(bytes.count)
            guard pwrite(upload.descriptor, bytes, bytes.count, off_t(upload.offset)) == bytes.count else {
                return false
            }
            values.uploads[target]?.offset += Int64(bytes.count)
            return true
        }
    }
}
