public import XferModel

extension ReadableFile {
    /// Copies the first `length` bytes into an empty partial file. Blocks for as long as that takes.
    ///
    /// - Throws: as `FileCopy.copy`.
    public func copy(
        _ length: Int64, to part: PartialFile, isCancelled: () -> Bool = { false }
    ) throws(FileError) {
        let target = try part.handle()
        _ = try FileCopy.copy(from: descriptor, to: target.raw, length: length, isCancelled: isCancelled)
    }

    /// True if the partial file has the same bytes as this file in these segments, up to what is committed of each.
    /// Blocks until both are read.
    ///
    /// - Throws: `cancelled`, `closed`, `system`.
    public func agrees(
        with part: PartialFile, in segments: [Segment], isCancelled: () -> Bool = { false }
    ) throws(FileError) -> Bool {
        let other = try part.handle()
        for segment in segments {
            var offset = max(0, segment.start)
            while offset < segment.committed {
                if isCancelled() { throw .cancelled }
                let wanted = Int(clamping: min(Self.stretch, segment.committed - offset))
                let own = try read(at: offset, upTo: wanted)
                guard own.count == wanted,
                    try readAll(other, path: part.path, at: offset, upTo: wanted) == own
                else { return false }
                offset += Int64(clamping: wanted)
            }
        }
        return true
    }

    /// The number of bytes that are compared at a time.
    private static var stretch: Int64 { 1 << 20 }
}
