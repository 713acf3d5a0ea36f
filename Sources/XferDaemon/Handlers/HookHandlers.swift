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
                    PageText.named(hooks(), params, name: \.name, record: { HookRecord($0) }) {
                        HookList.Result(hooks: [], nextCursor: $0)
                    }
                })
        ]
    }
}
