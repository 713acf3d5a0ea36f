import Glibc

/// The process's file mode creation mask: what mode published files get when nobody says otherwise.
public enum ProcessUmask {
    /// Read-write for all less the umask, as open(2) would give; the partial file itself is private (0600).
    ///
    /// umask(2) can only be read by setting it, so call this once at start, before other threads make files.
    public static func defaultFileMode() -> UInt16 {
        let mask = umask(0o077)
        umask(mask)
        return UInt16(0o666 & ~mask)
    }
}
