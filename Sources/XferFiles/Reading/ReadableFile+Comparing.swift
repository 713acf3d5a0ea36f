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

    /// True if the partial file begins with the first `length` bytes of this file. Blocks until both are read.
    ///
    /// - Throws: `cancelled`, `closed`, `system`.
    public func isBeginning(
        of part: PartialFile, length: Int64, isCancelled: () -> Bool = { false }
    ) throws(FileError) -> Bool {
        let other = try part.handle()
        var offset: Int64 = 0
        while offset < length {
            if isCancelled() { throw .cancelled }
            let wanted = Int(clamping: min(Self.stretch, length - offset))
            let own = try read(at: offset, upTo: wanted)
            guard own.count == wanted,
                try readAll(other, path: part.path, at: offset, upTo: wanted) == own
            else { return false }
            offset += Int64(clamping: wanted)
        }
        return true
    }

    /// Bytes that are compared at a time.
    private static var stretch: Int64 { 1 << 20 }
}
