import Testing
import XferModel
import XferProtocol

@testable import XferCommands

@Suite struct MemberFiguresTests {
    private func record(_ state: TaskState, received: Int64, total: Int64?, rate: Int64 = 0) -> TaskRecord {
        var record = TaskRecord()
        (record.id, record.url, record.state) = (TaskID(1), "http://h/f", .known(state))
        var progress = ProgressRecord()
        (progress.received, progress.total, progress.rate) = (received, total, rate)
        record.progress = progress
        return record
    }

    private func lines(_ records: TaskRecord...) -> [String] {
        var figures = MemberFigures()
        for record in records { figures.add(record) }
        return figures.lines.map { "\($0.name) \($0.text)" }
    }

    @Test func bytesRateAndTimeLeftAreThoseOfAllMembers() {
        let done = record(.completed, received: 1 << 20, total: 1 << 20)
        let running = record(.running, received: 1 << 20, total: 3 << 20, rate: 1 << 20)
        #expect(lines(done, running) == ["bytes 2.0 MiB of 4.0 MiB", "rate 1.0 MiB/s, 2s left"])
        let queued = record(.queued, received: 0, total: nil)
        #expect(
            lines(done, running, queued) == ["bytes 2.0 MiB of 4.0 MiB, 1 of unknown length", "rate 1.0 MiB/s"])
    }

    @Test func filesThatExistedAlreadyAreCountedApartFromTheBytes() {
        var (skipped, current) = (record(.completed, received: 5, total: 5), record(.completed, received: 5, total: 5))
        (skipped.skipped, current.notModified) = (true, true)
        let done = record(.completed, received: 1 << 20, total: 1 << 20)
        #expect(lines(skipped, current, done) == ["bytes 1.0 MiB of 1.0 MiB", "kept 2 existed already"])
        #expect(lines(skipped) == ["kept 1 existed already"])
    }

    @Test func aBatchUnderWayIsOneLine() {
        var batch = BatchRecord()
        (batch.id, batch.total, batch.finished, batch.skipped) = (BatchID(4), 5, 2, 1)
        #expect(BatchText.line(batch, nil) == "batch 4: 2 of 5, 1 failed")
        var figures = MemberFigures()
        figures.add(record(.running, received: 1 << 20, total: 3 << 20, rate: 1 << 20))
        #expect(
            BatchText.line(batch, figures) == "batch 4: 2 of 5, 1 failed, 1.0 MiB of 3.0 MiB, 1.0 MiB/s, 2s left")
    }

    private func cells(_ records: TaskRecord...) -> [String] {
        var figures = MemberFigures()
        for record in records { figures.add(record) }
        return MemberFigures.cells(figures).map(\.text)
    }

    @Test func aListingShowsBytesRateAndTimeLeft() {
        let done = record(.completed, received: 1 << 20, total: 1 << 20)
        let running = record(.running, received: 1 << 20, total: 3 << 20, rate: 1 << 20)
        #expect(cells(done, running) == ["2.0 MiB of 4.0 MiB", "1.0 MiB/s", "2s"])
        #expect(cells(done) == ["1.0 MiB", "-", "-"])
        let queued = record(.queued, received: 0, total: nil)
        #expect(cells(running, queued) == ["1.0 MiB of 3.0 MiB + ?", "1.0 MiB/s", "-"])
        #expect(cells(queued) == ["-", "-", "-"] && MemberFigures.cells(nil).map(\.text) == ["-", "-", "-"])
    }

    @Test func aListingReadsABoundedNumberOfMembers() throws {
        let most = MemberFigures.mostMembers
        var read: [Int64] = []
        let figures = try MemberFigures.each(of: [most - 1, 0, 1, 1, .max], members: { $0 }) {
            count throws(CommandFailure) in
            read.append(count)
            return MemberFigures()
        }
        #expect(read == [most - 1, 1])
        #expect(figures.map { $0 != nil } == [true, false, true, false, false])
    }

    @Test func cancelledMembersAndBatchesWithoutBytesShowNothing() {
        #expect(lines(record(.cancelled, received: 5, total: 10)).isEmpty)
        #expect(lines(record(.queued, received: 0, total: nil)).isEmpty && lines().isEmpty)
    }
}
