extension Sequence {
    /// The elements in ascending order of a key; elements with equal keys keep their order.
    ///
    /// For short lists on cold paths. `sorted(by:)` is compiled anew for each type and closure, which takes the
    /// optimiser up to a second each time; this function is compiled once and is slower per element. Its attribute
    /// prevents copies of it.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    public func ordered<Key: Comparable>(by key: (Element) -> Key) -> [Element] {
        sorted { key($0) < key($1) }
    }
}
