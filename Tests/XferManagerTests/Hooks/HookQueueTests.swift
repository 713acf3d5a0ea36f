import Logging
import Testing
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// Hooks that run for ended tasks, from their rows.
struct HookQueueTests {
    /// Three tasks poll the queue while rows come and go.
    ///
    /// The rows are so large that others go while one poll reads them.
    @Test func eachQueuedHookRunsOnceUnderRepeatedPolling() async throws {
        let place = try TemporaryDirectory("xfer-hooks")
        let store = try TaskStore.open(
            StoreConfiguration(
                path: place.file("xferd.sqlite"), onCommit: { _ in }, onDegradedChange: { _ in },
                texts: StoreTexts(task: { _ in String(repeating: "x", count: 300_000) })))
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let told = place.file("told")
        let runner = HookRunner(
            [HookDefinition(name: "tell", arguments: ["/bin/sh", "-c", "echo $XFER_TASK >> \(told)"])], logger: logger)
        let queue = HookQueue(store: store, runner: runner, logger: logger)
        let count = 30
        try await store.write { tx in
            let time = Timestamp(seconds: 1_767_268_800)
            for number in 0..<count {
                let url = HTTPURL(scheme: .http, host: "host", port: 80, target: "/\(number)")
                var specification = TaskSpecification(
                    owner: Owner(uid: 0), request: TransferRequest(url: url),
                    destination: Destination(directory: "/srv", name: nil))
                specification.completion.onComplete = "tell"
                var task = try tx.tasks.insert(specification, state: .running, at: time)
                task.state = .completed
                task.finishedAt = time
                try tx.tasks.update(task)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask { while !Task.isCancelled { await queue.wake() } }
            }
            try await eventually("all have run") { try await store.read { try $0.hooks.pending(limit: 1).isEmpty } }
            group.cancelAll()
        }
        await queue.shutdown()
        let lines = try FileTree.text(told).split(separator: "\n").compactMap { Int64($0) }
        #expect(lines.sorted() == (1...Int64(count)).map { $0 })
        try store.close()
    }
}
