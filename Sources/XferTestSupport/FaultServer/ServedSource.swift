import NIOConcurrencyHelpers

/// What a path of the test server offers now, and the faults still to come.
public final class ServedSource: Sendable {
    private let state: NIOLockedValueBox<(version: SourceVersion, faults: [[Fault]], standing: [Fault])>

    init(_ version: SourceVersion, faults: [[Fault]]) {
        state = NIOLockedValueBox((version, faults, []))
    }

    public var version: SourceVersion { state.withLockedValue(\.version) }

    /// Offers another version from the next request on.
    public func replace(with version: SourceVersion) { state.withLockedValue { $0.version = version } }

    /// Faults for the next request, the one after it, and so on; what was left of an earlier list is dropped.
    public func next(_ faults: [Fault]...) { state.withLockedValue { $0.faults = faults } }

    /// Faults for every request that `next` has nothing for.
    public func always(_ faults: Fault...) { state.withLockedValue { $0.standing = faults } }

    func reply(to request: RecordedRequest) -> Reply {
        let (version, faults) = state.withLockedValue { state in
            (state.version, state.faults.isEmpty ? state.standing : state.faults.removeFirst())
        }
        var reply = version.honestReply(to: request)
        for fault in faults { fault.apply(to: &reply, Fault.Context(request: request, source: version)) }
        return reply
    }
}
