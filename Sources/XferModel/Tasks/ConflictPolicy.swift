/// The action when the final name is taken.
public enum ConflictPolicy: String, Sendable, Codable, CaseIterable {
    /// `name (1).ext`, with `.tar.gz` kept whole.
    case rename
    /// One plain rename: replaces a symbolic link, not its target.
    case overwrite
    /// Ends completed with `skipped: true`.
    case skip
    /// Ends failed with `destination_exists`.
    case fail
    /// A conditional request with the published file's validators; ends completed with `not_modified: true` when
    /// current.
    case update
    /// Ends completed with `skipped: true` when the file has the demanded digest; otherwise the file is fetched and
    /// replaced. Like `update` if no digest is demanded.
    case verify
    /// The existing file is treated as the beginning of the download that another program has left: the file is kept if
    /// it has the demanded digest, otherwise its bytes are continued. It is replaced by a file that begins with its
    /// bytes, or that has the demanded digest; any other new file gets a number, as with `rename`.
    case `continue`

    /// True if an existing file with the name is replaced.
    public var replaces: Bool {
        switch self {
        case .overwrite, .update, .verify, .continue: true
        case .rename, .skip, .fail: false
        }
    }

    /// True if the existing file is compared before the request, so that its name must not depend on the answer.
    public var compares: Bool { [.update, .verify, .continue].contains(self) }
}
