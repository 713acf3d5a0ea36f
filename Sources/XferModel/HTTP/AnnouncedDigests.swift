/// What becomes of digests that the server announces (`Repr-Digest` and its kin).
public enum AnnouncedDigests: String, Sendable, Codable, CaseIterable {
    /// Finished bytes have to match them, unless the task demands a digest of its own.
    case verify
    /// They are not looked at: the server announces wrong ones.
    case ignore
}
