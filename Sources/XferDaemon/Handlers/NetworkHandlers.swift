import XferManager
import XferProtocol

/// The handler of `network.status`. Every caller may use it, because any local process can read this information.
struct NetworkHandlers: Sendable {
    let network: NetworkFollower

    var all: [Handler] {
        [Handler(NetworkStatus.self) { params, _ in network.status(routeTo: params.host) }]
    }
}
