import Dispatch
import Glibc

/// Tells when the configuration file was written, replaced or removed (inotify(7)), without polling.
///
/// The directory is watched, not the file: editors rename a new file over the old one, and the file may not exist yet.
/// A directory that does not exist is not watched, nor is what a symbolic link points to; SIGHUP always works.
public struct ConfigurationWatch: ~Copyable {
    private let source: any DispatchSourceRead

    /// - Parameter onChange: called on a queue of the watch's own, once for changes that come together.
    /// - Throws: the error number, ENOENT when the directory does not exist.
    public init(path: String, onChange: @escaping @Sendable () -> Void) throws(SystemError) {
        let directory = InstancePaths.directory(of: path)
        let name = Array((path.split(separator: "/").last ?? "").utf8)
        let descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { throw SystemError(call: "inotify_init1") }
        let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR)
        guard inotify_add_watch(descriptor, directory, events) >= 0 else {
            let error = SystemError(call: "inotify_add_watch")
            close(descriptor)
            throw error
        }
        source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "xferd.configuration"))
        source.setEventHandler {
            if Self.drain(descriptor, lookingFor: name) { onChange() }
        }
        source.setCancelHandler { close(descriptor) }
        source.resume()
    }

    deinit { source.cancel() }

    /// Reads what is there and says whether any of it is about that name.
    private static func drain(_ descriptor: Int32, lookingFor name: [UInt8]) -> Bool {
        let headerSize = MemoryLayout<inotify_event>.size
        var isNamed = false
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return isNamed }
            var offset = 0
            while offset + headerSize <= count {
                let event = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self) }
                let end = offset + headerSize + Int(event.len)
                guard end <= count else { break }
                // The name is padded with zeros.
                let found = buffer[(offset + headerSize)..<end].prefix { $0 != 0 }
                isNamed = isNamed || found.elementsEqual(name) || event.mask & UInt32(IN_Q_OVERFLOW) != 0
                offset = end
            }
        }
    }
}
