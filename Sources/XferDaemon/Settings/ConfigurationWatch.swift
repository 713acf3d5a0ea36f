import Dispatch
import Glibc
public import XferSystem

/// Reports when files of the configuration were written, replaced or removed (inotify(7)), without polling.
///
/// It watches directories, not the files: editors rename a new file over the old one, and a file may not exist yet. If
/// a directory is missing, it watches its nearest existing parent for the creation of the next directory; then the
/// watch has to be created again. The target of a symbolic link is not watched; SIGHUP always works.
public struct ConfigurationWatch: ~Copyable {
    private let source: any DispatchSourceRead
    /// True if a directory was missing.
    public let isIncomplete: Bool

    /// - Parameter onChange: called on the watch's own queue, once for several changes at the same time.
    /// - Throws: when the directory cannot be watched.
    public init(path: String, onChange: @escaping @Sendable () -> Void) throws(SystemCallError) {
        try self.init(paths: [path], onChange: onChange)
    }

    /// Watches several files with one descriptor. Directories that cannot be watched are left out.
    /// - Throws: if none of them can be watched.
    public init(paths: Set<String>, onChange: @escaping @Sendable () -> Void) throws(SystemCallError) {
        let descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { throw SystemCallError("inotify_init1") }
        let changes = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)
        let events = changes | UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
        var names: [Int32: Set<[UInt8]>] = [:]
        var failure: SystemCallError?
        var isIncomplete = false
        for path in paths {
            var (watch, wanted, isHigher) = Self.add(path, to: descriptor, events)
            // A directory that was made between two calls would never be noticed: what it was waited for is looked for
            // again once the one above it is watched.
            while watch >= 0, isHigher, access(wanted, F_OK) == 0 {
                let missing = wanted
                (watch, wanted, isHigher) = Self.add(path, to: descriptor, events)
                // A link that leads nowhere, or a file in the place of a directory.
                if wanted == missing { break }
            }
            isIncomplete = isIncomplete || isHigher
            if watch < 0 {
                failure = SystemCallError("inotify_add_watch")
            } else {
                names[watch, default: []].insert(Array((wanted.split(separator: "/").last ?? "").utf8))
            }
        }
        if names.isEmpty, let failure {
            close(descriptor)
            throw failure
        }
        self.isIncomplete = isIncomplete
        source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "xferd.configuration"))
        source.setEventHandler { [names] in
            if Self.drain(descriptor, lookingFor: names) { onChange() }
        }
        source.setCancelHandler { close(descriptor) }
        source.resume()
    }

    deinit { source.cancel() }

    /// Watches the directory of a file, or the nearest one above it that exists.
    ///
    /// - Returns: the watch, or a negative number; the awaited name in it, with its path; true if that is a missing
    ///   directory. Adding a directory again returns the same number.
    private static func add(
        _ path: String, to descriptor: Int32, _ events: UInt32
    ) -> (watch: Int32, wanted: String, isHigher: Bool) {
        var wanted = path
        var watch = inotify_add_watch(descriptor, InstancePaths.directory(of: wanted), events | UInt32(IN_MASK_ADD))
        while watch < 0, errno == ENOENT, InstancePaths.directory(of: wanted) != "/" {
            wanted = InstancePaths.directory(of: wanted)
            watch = inotify_add_watch(
                descriptor, InstancePaths.directory(of: wanted), events | UInt32(IN_MASK_ADD | IN_CREATE))
        }
        return (watch, wanted, wanted != path)
    }

    /// Reads the waiting events; returns true if any of them is about one of the names in its directory.
    private static func drain(_ descriptor: Int32, lookingFor names: [Int32: Set<[UInt8]>]) -> Bool {
        let headerSize = MemoryLayout<inotify_event>.size
        var isNamed = false
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return isNamed }
            var offset = 0
            while offset + headerSize <= count {
                let event = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self) }
                let end = offset + headerSize + Int(clamping: event.len)
                guard end <= count else { break }
                // The name is padded with zeros.
                let found = buffer[(offset + headerSize)..<end].prefix { $0 != 0 }
                let isWanted = names[event.wd]?.contains(Array(found)) ?? false
                isNamed = isNamed || isWanted || event.mask & UInt32(IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF) != 0
                offset = end
            }
        }
    }
}
