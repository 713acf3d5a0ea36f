/// The version of both programs.
public enum XferVersion {
    public static let current = "1.0.0"
}
