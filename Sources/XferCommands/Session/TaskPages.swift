import XferProtocol

/// Bounds of listings.
enum TaskPages {
    /// Most tasks that one answer holds.
    static let largest = 1000
}
