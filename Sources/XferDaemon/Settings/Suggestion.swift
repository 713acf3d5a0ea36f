import XferProtocol

/// "Did you mean": the known name nearest to an unknown one.
enum Suggestion {
    /// The message for an unknown key.
    static func unknown(_ name: String, among known: [String]) -> String {
        "unknown key" + (nearest(to: name, among: known).map { ", did you mean \($0)?" } ?? "")
    }

    /// The known name that takes the fewest edits, if they are at most a third of its length and at least one is allowed.
    static func nearest(to name: String, among known: [String]) -> String? {
        let sought = Array(name.lowercased().unicodeScalars)
        let ranked = known.map { (name: $0, distance: EditDistance.between(sought, Array($0.unicodeScalars))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.name.count / 3) ? best.name : nil
    }
}
