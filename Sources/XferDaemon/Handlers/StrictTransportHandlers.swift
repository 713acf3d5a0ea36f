import XferManager
import XferModel
import XferProtocol

/// Handles `hsts.*`: decodes, authorises, calls and encodes.
struct StrictTransportHandlers: Sendable {
    let hosts: StrictTransportCommands

    var all: [Handler] {
        [
            Handler(
                StrictTransportList.self,
                encoding: { params, _, _ in
                    let (mode, known) = hosts.list()
                    return PageText.named(known, params, name: \.host, record: { SecureHostRecord($0) }) {
                        StrictTransportList.Result(mode: mode, hosts: [], nextCursor: $0)
                    }
                }),
            Handler(StrictTransportClear.self) { params, _ in
                let (removed, missing) = try await hosts.clear(params.hosts)
                return StrictTransportClear.Result(removed: removed, missing: missing)
            },
        ]
    }
}
