import XferCore
import XferModel
import XferTestSupport

/// Choices that both model tests make alike.
struct RandomRules {
    static let owners = ["ada", "bob"]
    static let hosts = ["a.example", "b.example"]
    static let names = ["n1", "n2", "n3"]
    static let storages: [String: Set<String>] = ["n1": ["nas"], "n2": ["nas"]]
    static let labels: [String: Set<String>] = ["n1": ["fast"], "n2": ["fast", "big"], "n3": []]

    var generator: SplitMix64

    mutating func place() -> FleetPlace {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: .node(generator.pick(Self.names) ?? "n1")
        case 1: .label(generator.chance(50) ? "fast" : "big")
        case 2, 3: .storage("nas")
        default: .any
        }
    }

    mutating func lane() -> FleetModel.Lane {
        FleetModel.Lane(
            priority: generator.pick(Priority.allCases) ?? .normal, owner: generator.pick(Self.owners) ?? "ada",
            group: generator.chance(30) ? "g" : nil, host: generator.pick(Self.hosts) ?? "a.example", place: place())
    }

    mutating func wish() -> FleetWish {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0, 1: .pause
        case 2, 3: .resume
        case 4: .cancel
        case 5: .retry
        case 6: .reorder(generator.chance(50) ? .top : .bottom)
        case 7: .move(place())
        case 8: .priority(generator.pick(Priority.allCases) ?? .low)
        default: generator.chance(50) ? .limits(#"{"max_rate":1}"#) : .remove
        }
    }

    mutating func caller() -> WishRules.Caller {
        generator.chance(50) ? .operators : .owner(generator.pick(Self.owners) ?? "ada")
    }

    mutating func ending() -> FleetEnding {
        generator.pick([.completed, .completed, .failed, .cancelled]) ?? .completed
    }

    mutating func limit() -> Int? { generator.chance(30) ? nil : Int.random(in: 1...4, using: &generator) }
}
