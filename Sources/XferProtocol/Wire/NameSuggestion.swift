extension Collection where Element == String {
    /// The element a person most likely meant by `name`: at most two edits away, and fewer than half of its letters.
    func closest(to name: String) -> String? {
        guard name.utf8.count <= 64 else { return nil }
        let candidates = map { (name: $0, distance: EditDistance.between(Array($0.utf8), Array(name.utf8))) }
        guard let best = candidates.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= 2 && best.distance * 2 < Swift.max(name.utf8.count, 2) ? best.name : nil
    }
}
