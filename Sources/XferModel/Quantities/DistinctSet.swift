extension Sequence where Element: Hashable {
    /// The distinct elements, with room for about as many as there are.
    ///
    /// `Set(_:)` reserves room for every element of a sequence, also for repetitions: a set of one task that a request
    /// names ten thousand times took 130 KB, for as long as the request's stream lasted.
    public func distinctSet() -> Set<Element> { reduce(into: []) { $0.insert($1) } }
}
