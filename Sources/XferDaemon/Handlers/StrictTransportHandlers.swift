import XferManager
import XferProtocol

/// `hsts.*`: decode, authorise, call, encode.
struct StrictTransportHandlers: Sendable {
    let hosts: StrictTransportCommands

    var all: [Handler] {
        [
            Handler(StrictTransportList.self) { _, _ in
                let (mode, known) = hosts.list()
                return StrictTransportList.Result(mode: mode, hosts: known.map { SecureHostRecord($0) })
            },
            Handler(StrictTransportClear.self) { params, _ in
                StrictTransportClear.Result(removed: try await hosts.clear(params.hosts))
            },
        ]
    }
}
