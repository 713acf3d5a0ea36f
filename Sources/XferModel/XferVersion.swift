/// The version of both programs: a semantic version (https://semver.org), and the one place that has it.
///
/// Each program makes `text` of it once, from its commit, and reports that as its own version everywhere.
public enum XferVersion {
    /// The version without the commit, for `User-Agent`.
    public static let current = "1.0.0"

    /// The text of `--version`: `1.0.0 (COMMIT)`, or `1.0.0~dev+COMMIT` for a commit without a tag, which Debian sorts
    /// before the release. Only `make` passes the commit to a build; other builds do not count as a release.
    ///
    /// - Parameter commit: the value given to the build: `COMMIT`, `dev+COMMIT`, or nothing.
    public static func text(commit: String) -> String {
        guard !commit.isEmpty else { return "\(current)~dev" }
        // Outside of a repository, in the source archive of a release, there is no commit behind the sign.
        guard commit != "dev+" else { return current }
        return commit.hasPrefix("dev+") ? "\(current)~\(commit)" : "\(current) (\(commit))"
    }
}
