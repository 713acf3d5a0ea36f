import XferManager
import XferModel
import XferProtocol

/// `hook.*`: decode, authorise, call, encode.
struct HookHandlers: Sendable {
    let hooks: @Sendable () -> [HookDefinition]

    var all: [Handler] {
        [
            Handler(HookList.self) { _, _ in
                HookList.Result(hooks: hooks().map { HookRecord($0) })
            }
        ]
    }
}
