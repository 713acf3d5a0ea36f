import Glibc
import XferSystem

extension FileSystemTraits {
    /// The traits of the file systems that were used and are still mounted, by the device number of a directory.
    /// Touches no file system.
    public static var known: [UInt64: FileSystemTraits] { FileSystems.ofProcess.known }
}

/// The traits of mounted file systems: determined on the first use of each, and again after any mount has changed.
final class FileSystems: Sendable {
    /// The file systems of this process.
    static let ofProcess = FileSystems()

    private struct State {
        /// A descriptor that signals changes of mounts; nil until it is needed, and if /proc is missing.
        var watch: Descriptor?
        /// The traits, by the device number of a directory.
        var known: [UInt64: FileSystemTraits] = [:]
        /// The traits that were determined last, possibly before the last change of mounts.
        var last: [UInt64: FileSystemTraits] = [:]
        /// The mounts, if they were read since the last change.
        var mounts: MountTable?
        /// The number of changes so far.
        var generation = 0

        /// Removes everything if a mount has changed since the last call. Returns true if changes are noticed at all.
        mutating func followChanges() -> Bool {
            if watch == nil {
                guard case .value(let opened) = openDescriptor(MountTable.path, flags: O_RDONLY) else { return false }
                watch = opened
                (known, mounts) = ([:], nil)
            }
            guard let watch else { return false }
            // proc(5): a change of the mounts is a priority event, once for each open file.
            var request = pollfd(fd: watch.raw, events: Int16(truncatingIfNeeded: POLLPRI), revents: 0)
            guard poll(&request, 1, 0) != 0 else { return true }
            (known, mounts) = ([:], nil)
            generation += 1
            return true
        }
    }

    private let state = Locked(State())

    /// The traits of an open directory's file system. Blocks on the first use of a mount.
    ///
    /// - Parameter device: that of the directory, stat(2).
    func traits(of descriptor: Int32, device: UInt64) -> FileSystemTraits {
        let (known, generation) = state.withLock { state -> (FileSystemTraits?, Int?) in
            guard state.followChanges() else { return (nil, nil) }
            return (state.known[device], state.generation)
        }
        if let known { return known }
        let traits = FileSystemTraits(of: descriptor, device: device)
        state.withLock { state in
            // A change in between may have given the number to another file system.
            guard state.followChanges(), state.generation == generation else { return }
            state.known[device] = traits
            if state.last.count >= Self.mostRemembered { state.last = [:] }
            state.last[device] = traits
        }
        return traits
    }

    /// The number of file systems that are remembered over changes of mounts.
    private static let mostRemembered = 256

    /// The traits of file systems that are still mounted, as determined last, by the device number of a directory. The
    /// call does not access a file system.
    var known: [UInt64: FileSystemTraits] {
        let mounts = mounts
        return state.withLock { state in
            guard state.followChanges() else { return [:] }
            return state.last.filter { device, traits in
                state.known[device] != nil || mounts.mount(ofDevice: device)?.type == traits.name
            }
        }
    }

    /// The present mounts.
    var mounts: MountTable {
        let (mounts, generation) = state.withLock { state -> (MountTable?, Int?) in
            guard state.followChanges() else { return (nil, nil) }
            return (state.mounts, state.generation)
        }
        if let mounts { return mounts }
        let table = MountTable()
        state.withLock { state in
            if state.followChanges(), state.generation == generation { state.mounts = table }
        }
        return table
    }

    /// Records that an attempt has shown a feature to be missing in a file system.
    func record(lacking feature: FileSystemTraits.Feature, device: UInt64) {
        state.withLock { state in
            guard state.followChanges() else { return }
            state.known[device]?.lacking.insert(feature)
            state.last[device]?.lacking.insert(feature)
        }
    }
}
