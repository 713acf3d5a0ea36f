import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Numbers that only a damaged database holds: what is read of them stays within bounds that arithmetic bears.
struct DamagedNumberTests {
    static let extremes: [Int64] = [.min, -1, 1 << 62, .max]

    /// A directory whose tasks, transfer, upload, response and counts hold this number everywhere.
    private static func filled(with number: Int64) async throws -> StoreDirectory {
        let directory = try StoreDirectory()
        let store = try directory.open()
        try await store.write { transaction throws in
            let partial = PartialLocation(directory: "/srv", identity: FileIdentity(device: 1, inode: 2))
            let transfer = try transaction.transfers.insert(partial: partial, at: noon).id
            try transaction.transfers.checkpoint(transfer, segments: [Segment(start: 0, committed: 9)])
            let url = HTTPURL(scheme: .https, host: "example.com", port: 443, target: "/u")
            try transaction.transfers.setUpload(UploadResumeData(url: url, offset: 5, largestAppend: 7), of: transfer)
            for state in [TaskState.paused, .queued, .queued, .failed, .completed] {
                var task = try transaction.tasks.insert(specification(), state: .queued, at: noon)
                if state == .paused { task.transferID = transfer }
                task.state = state
                try transaction.tasks.update(task)
            }
            try transaction.results.set(StoredResult(content: .inline([1, 2, 3]), length: 3), of: TaskID(5), at: noon)
        }
        try store.close()
        let text = number == .min ? "(-9223372036854775807 - 1)" : "\(number)"
        try directory.execute(
            """
            UPDATE task SET received = \(text), total = \(text), sent = \(text), furthest = \(text), attempts = \(text),
                created_at = \(text), finished_at = \(text), wait_until = \(text), moved_rank = \(text);
            UPDATE segment SET committed = \(text), "end" = \(text);
            UPDATE transfer SET total_length = \(text), source = \(text);
            UPDATE upload SET "offset" = \(text), largest_append = \(text);
            UPDATE task_result SET length = \(text);
            UPDATE task_count SET count = \(text);
            """)
        return directory
    }

    @Test(arguments: extremes) func lengthsAndCountsAreClampedToTheComputableRange(number: Int64) async throws {
        let directory = try await Self.filled(with: number)
        let store = try directory.open()
        let amounts = 0...ByteCount.greatest
        try await store.read { reader throws in
            for id in 1...5 {
                let task = try #require(try reader.tasks.find(TaskID(Int64(id))))
                #expect(amounts.contains(task.received) && amounts.contains(task.sent))
                #expect(amounts.contains(task.furthest) && task.attempts >= 0)
                #expect(task.total.map(amounts.contains) == true)
                #expect(!task.createdAt.description.isEmpty)
            }
            let data = try #require(try reader.transfers.find(TransferID(1))).resumeData
            #expect(data.totalLength.map(amounts.contains) == true && amounts.contains(data.committedByteCount))
            #expect(try reader.transfers.find(TransferID(1))?.sourceUse.described == Int(clamping: number))
            #expect(try reader.transfers.upload(of: TransferID(1)).map { amounts.contains($0.offset) } == true)
            #expect(try reader.results.find(of: TaskID(5)).map { amounts.contains($0.length) } == true)
            #expect(try reader.counts.byState().values.allSatisfy(amounts.contains))
            _ = try reader.tasks.list(TaskQuery(), ascending: true, limit: 3, cursor: nil)
        }
        try store.close()
    }

    @Test(arguments: extremes) func ranksAndTimesAtTheirEndsDoNotKeepTasksFromBeingMovedAndForgotten(
        number: Int64
    ) async throws {
        let directory = try await Self.filled(with: number)
        let store = try directory.open()
        for position in [MovePosition.top, .bottom, .before(TaskID(2)), .after(TaskID(2))] {
            for order in QueueOrder.allCases {
                // Where no rank is left the move may fail; it does not end the process.
                _ = try? await store.write { try $0.queue.move(TaskID(3), to: position, order: order) }
            }
        }
        // SQLite itself refuses to count below the least number.
        _ = try? await store.write { try $0.tasks.trimHistory(maxCount: 0, olderThan: Timestamp(rawValue: .max)) }
        try store.close()
    }
}
