import XferCore

/// What a node's own store has: it survives when the node is called down, and when the fleet's database goes back in time.
struct ModelNode {
    struct Held: Hashable {
        let task: Int64
        let claim: String
    }

    let name: String
    var held: [Held] = []
    /// Ended and reported. A zombie reports such claims once more.
    var past: [Held] = []
}

extension RandomNumberGenerator {
    mutating func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &self) }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
