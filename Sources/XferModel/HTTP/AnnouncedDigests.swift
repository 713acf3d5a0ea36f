/// The treatment of digests that the server announces (`Repr-Digest` and similar fields).
public enum AnnouncedDigests: String, Sendable, Codable, CaseIterable {
    /// Finished bytes have to match them, unless the task demands a digest of its own.
    case verify
    /// The digests are ignored, because the server announces wrong ones.
    case ignore
}
