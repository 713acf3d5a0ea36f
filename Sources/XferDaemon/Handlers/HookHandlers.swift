import XferManager
import XferModel
import XferProtocol

/// The handler of `hook.list`.
struct HookHandlers: Sendable {
    let hooks: @Sendable () -> [HookDefinition]

    var all: [Handler] {
        [
            Handler(
                HookList.self,
                encoding: { params, _, _ in
                    PageText.named(hooks(), params, as: HookList.Result.self, name: \.name) { HookRecord($0) }
                })
        ]
    }
}
