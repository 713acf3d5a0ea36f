import XferModel

extension TaskQuery {
    /// The columns it restricts, each with the values it allows, without repetitions and in a fixed order.
    var restrictions: [Restriction] {
        var found: [Restriction] = []
        func restrict<T: Hashable>(_ dimension: Restriction.Dimension, _ allowed: [T]?, _ value: (T) -> Value) {
            guard let allowed else { return }
            found.append(Restriction(dimension: dimension, allowed: Set(allowed.map(value))))
        }
        restrict(.id, ids, { Value($0) })
        restrict(.label, labels, { .text($0) })
        restrict(.slot, slots, { .text($0) })
        restrict(.group, groups, { .text($0) })
        restrict(.host, hosts, { .text($0) })
        restrict(.state, states, { Value($0) })
        restrict(.owner, owners, { Value($0) })
        restrict(.kind, kinds, { Value($0) })
        return found
    }

    /// Words that identify this filter in this order, for cursors.
    func words(ascending: Bool) -> [String] {
        [ascending ? "asc" : "desc"] + restrictions.flatMap { [$0.dimension.rawValue, $0.list] }
    }
}

/// One column and the values it may have.
struct Restriction {
    enum Dimension: String {
        case id, label, slot, group, host, state, owner, kind

        var column: String { self == .group ? "group_name" : rawValue }
        /// The index in which the tasks with one value lie in the order of their ids.
        var index: String? { self == .id || self == .kind ? nil : "task_\(rawValue)" }
    }

    let dimension: Dimension
    let allowed: Set<Value>

    /// The allowed values in a fixed order, as JSON.
    var list: String {
        let integers = allowed.compactMap { if case .integer(let value) = $0 { value } else { nil } }.sorted()
        let texts = allowed.compactMap { if case .text(let value) = $0 { value } else { nil } }.sorted()
        return texts.isEmpty ? JSONText.array(integers) : JSONText.array(texts)
    }
}
