/// Port numbers without a listener at this moment.
public enum FreePort {
    /// A port of 127.0.0.1 the kernel picked and gave back: free now, but not kept.
    public static func any() throws -> Int { try ClosedPort().number }
}
