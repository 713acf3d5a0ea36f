import XferManager
import XferModel
import XferProtocol

/// The handler of `hook.list`.
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
