extension Set {
    /// The distinct elements of a sequence, with room for about as many as there are.
    ///
    /// `Set(_:)` reserves room for every element of a sequence, also for repetitions: a set of one task that a request
    /// names ten thousand times took 130 KB, for as long as the request's stream lasted.
    public init(distinct elements: some Sequence<Element>) {
        self = []
        for element in elements { insert(element) }
    }
}
