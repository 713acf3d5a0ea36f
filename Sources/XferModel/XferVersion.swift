/// The version of both programs: a semantic version (https://semver.org), and the one place that has it.
public enum XferVersion {
    public static let current = "1.0.0"

    /// What `--version` prints: with the commit, if the build was told.
    public static func text(commit: String) -> String { commit.isEmpty ? current : "\(current) (\(commit))" }
}
