import Glibc
import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferProtocol
import XferSystem

/// The shared storages of the configuration, and those that are mounted now.
///
/// A marker file proves the mount: without it a task would fill the node's own disk below the mount point. A mount
/// whose server does not answer may block for any time, so the agent never waits for a check: it uses the last results.
final class StorageMounts: Sendable {
    /// Lies in the storage's top directory; its first line is the storage's name.
    static let marker = ".xfer-storage"
    /// The number of bytes of the marker that are read.
    private static let markerLength = 256

    /// Absolute paths by name.
    let paths: [String: String]
    private let pools: [String: BlockingPool]
    private let checks = NIOLockedValueBox<[String: Check]>([:])

    private struct Check {
        var underWay: Task<Void, Never>?
        /// The time at which the marker was last present.
        var seenAt: MonotonicInstant?
    }

    /// - Parameter paths: absolute, by name.
    init(_ paths: [String: String]) {
        self.paths = paths
        // One that blocks must not keep the others waiting.
        pools = paths.mapValues { _ in BlockingPool("xfer-storage", threadCount: 1) }
    }

    /// Looks for the markers, without waiting for mounts that do not answer.
    func check() {
        for (name, path) in paths {
            guard let pool = pools[name] else { continue }
            checks.withLockedValue { all in
                guard all[name]?.underWay == nil else { return }
                all[name, default: Check()].underWay = Task { [checks] in
                    let isThere = await pool.run { Self.isMarked(path, name) }
                    checks.withLockedValue { $0[name] = Check(seenAt: isThere ? Clocks.monotonic() : nil) }
                }
            }
        }
    }

    /// The storages whose marker was seen within `age` before `now`.
    func mounted(within age: Duration, at now: MonotonicInstant) -> Set<String> {
        checks.withLockedValue { checks in
            Set(checks.filter { $0.value.seenAt.map { $0.duration(to: now) <= age } ?? false }.keys)
        }
    }

    /// Waits for the first checks, at most this long, so that a starting node knows its storages when it registers.
    func firstCheck(atMost time: Duration) async {
        check()
        let underWay = checks.withLockedValue { $0.values.compactMap(\.underWay) }
        guard !underWay.isEmpty else { return }
        let wakeSignal = WakeSignal()
        Task {
            for check in underWay { await check.value }
            wakeSignal.ring()
        }
        await wakeSignal.wait(atMost: time)
    }

    private static func isMarked(_ path: String, _ name: String) -> Bool {
        let descriptor = open("\(path)/\(marker)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: markerLength)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return false }
        return bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }.elementsEqual(name.utf8)
    }

    // MARK: Paths

    /// The absolute path of a directory beneath the storage; nil if the node does not have the storage.
    func path(of directory: String, on storage: String) -> String? {
        paths[storage].map { directory.isEmpty ? $0 : "\($0)/\(directory)" }
    }

    /// The permit for a staged file; nil if the file is not on shared storage.
    func permit(_ claimKey: FleetClaimKey, _ file: StagedFileRecord) -> FleetPermit? {
        guard let inode = UInt64(file.inode, radix: 10), let modifiedAt = Int64(file.modifiedAt, radix: 10) else {
            return nil
        }
        guard let (storage, parts) = place(of: file.path), let part = parts.last else { return nil }
        return FleetPermit(
            claimKey: claimKey, storage: storage, directory: parts.dropLast().joined(separator: "/"),
            part: String(part), name: file.name, inode: inode, size: file.size, modifiedAt: modifiedAt)
    }

    /// The storage of a file, and the components of the file's path below it; nil if the file is on none.
    private func place(of path: String) -> (storage: String, parts: ArraySlice<Substring>)? {
        let parts = path.split(separator: "/")
        for (storage, path) in paths.sorted(by: { $0.value.utf8.count > $1.value.utf8.count }) {
            let root = path.split(separator: "/")
            if parts.count > root.count, parts.starts(with: root) { return (storage, parts[root.count...]) }
        }
        return nil
    }

    /// True if a file with this path is on a shared storage. False on a mount that does not answer.
    func exists(_ path: String) async -> Bool {
        guard let pool = place(of: path).flatMap({ pools[$0.storage] }) else { return false }
        return await (try? Self.answer(from: pool) { access(path, F_OK) == 0 }) ?? false
    }

    /// Runs a call that may block permanently, and waits for it no longer than a client waits for a daemon.
    private static func answer<Value: Sendable>(
        from pool: BlockingPool, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let (stream, continuation) = AsyncStream<Result<Value, any Error>?>.makeStream(
            bufferingPolicy: .bufferingOldest(1))
        Task { continuation.yield(await pool.run { Result { try body() } }) }
        let alarm = Task {
            if (try? await Task.sleep(for: AgentConfiguration.daemonTimeout)) != nil { continuation.yield(nil) }
        }
        defer { alarm.cancel() }
        var iterator = stream.makeAsyncIterator()
        guard let result = await iterator.next() ?? nil else { throw StorageSilence() }
        return try result.get()
    }

    // MARK: After a node was lost

    /// Counts or removes the partial files that a store has in a directory of a storage.
    ///
    /// - Throws: `FileError` or `StorageSilence`; then the state of the storage is unknown.
    func parts(ofStore store: String, in directory: String, on storage: String, isRemoving: Bool) async throws -> Int {
        guard let root = paths[storage], let pool = pools[storage], let path = path(of: directory, on: storage) else {
            throw FileError.missing(path: "storage:\(storage)")
        }
        let prefix = Transfer.namePrefix(String(store.prefix(Self.tagLength)))
        return try await Self.answer(from: pool) {
            guard Self.isMarked(root, storage) else { throw FileError.missing(path: "\(root)/\(Self.marker)") }
            let handle: DirectoryHandle
            do throws(FileError) {
                handle = try AllowedRoots(roots: [root], forbidden: []).open(directory: path)
            } catch {
                guard case .missing = error else { throw error }
                return 0
            }
            let names = try handle.names(beginningWith: prefix)
            guard isRemoving, !names.isEmpty else { return names.count }
            for name in names { try handle.remove(name) }
            try handle.sync()
            return names.count
        }
    }

    /// The number of characters of a store's id in the names of its files.
    static let tagLength = 8

    // MARK: After a takeover

    /// Removes the partial file of an earlier claim by its name, and checks if its file was published.
    ///
    /// The previous node publishes by that name, so its rename fails with ENOENT after the removal. So a file that is
    /// missing afterwards does not appear later.
    ///
    /// - Returns: the published file's path; nil if there is none.
    /// - Throws: `FileError`; then the result is unknown, and the call has to be repeated.
    func settle(_ permit: FleetPermit) async throws -> String? {
        guard let root = paths[permit.storage], let pool = pools[permit.storage],
            let directory = path(of: permit.directory, on: permit.storage)
        else { throw FileError.missing(path: "storage:\(permit.storage)") }
        guard permit.part.hasPrefix(".xfer-") else {
            throw FileError.invalidName(permit.part, problem: "it is not the name of a partial file")
        }
        return try await Self.answer(from: pool) {
            // Below an empty mount point there is no file either.
            guard Self.isMarked(root, permit.storage) else { throw FileError.missing(path: "\(root)/\(Self.marker)") }
            let handle: DirectoryHandle
            do throws(FileError) {
                handle = try AllowedRoots(roots: [root], forbidden: []).open(directory: directory)
            } catch {
                // The mount is there, the directory is not: neither is the file.
                guard case .missing = error else { throw error }
                return nil
            }
            try handle.remove(permit.part)
            try handle.sync()
            if try permit.isOf(handle.status(of: permit.name)) { return handle.path(of: permit.name) }
            // on_conflict may have chosen another name.
            for name in try handle.names(beginningWith: "") where name != "." && name != ".." && name != permit.part {
                if try permit.isOf(handle.status(of: name)) { return handle.path(of: name) }
            }
            return nil
        }
    }
}

/// A shared storage does not answer.
struct StorageSilence: Error, CustomStringConvertible {
    var description: String { "the shared storage has not answered for \(AgentConfiguration.daemonTimeout)" }
}

extension FleetPermit {
    /// True if this is the permitted file. Its device number differs from node to node.
    fileprivate func isOf(_ status: FileStatus?) -> Bool {
        guard let status, status.kind == .regular else { return false }
        return status.identity.inode == inode && status.length == size && status.modificationNanoseconds == modifiedAt
    }
}
