import XferManager
import XferProtocol

/// `hook.*`: decode, authorise, call, encode.
struct HookHandlers: Sendable {
    let manager: TransferManager

    var all: [Handler] {
        [
            Handler(HookList.self) { _, _ in
                HookList.Result(hooks: manager.hooks.map { HookRecord($0) })
            }
        ]
    }
}
