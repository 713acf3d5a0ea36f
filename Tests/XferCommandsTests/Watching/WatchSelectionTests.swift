import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// What is selected and summed up while the sections come one by one.
@Suite struct WatchSelectionTests {
    private static let tasks: [(section: WatchSection, id: Int64, state: String)] = [
        (.running, 4, "running"), (.queued, 3, "queued"), (.waiting, 2, "waiting"), (.paused, 5, "paused"),
        (.ended, 1, "completed"),
    ]

    private func watched(answering order: [WatchSection]) -> Watched {
        var watched = Watched()
        _ = watched.model.requests(at: watched.now)
        for section in order {
            let tasks = Self.tasks.filter { $0.section == section }.map { watched.task($0.id, $0.state) }
            watched.answer(section, tasks)
        }
        return watched
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func theFirstRowIsSelectedInWhateverOrderTheSectionsCome(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let watched = watched(answering: WatchSection.allCases.shuffled(using: &random))
        #expect(watched.ids == [4, 3, 2, 5, 1])
        #expect(watched.model.selected?.id == 4 && watched.model.cursor == 0)
    }

    @Test func aKeyKeepsTheSelectionThatTheUserSaw() {
        var watched = watched(answering: [.queued, .waiting])
        #expect(watched.model.selected?.id == 3)
        watched.pressOnly(.character("?"))
        watched.answer(.running, [watched.task(4, "running")])
        #expect(watched.ids == [4, 3, 2] && watched.model.selected?.id == 3)
    }

    @Test func aTaskThatStartsLaterDoesNotTakeTheSelection() throws {
        var watched = watched(answering: WatchSection.allCases)
        watched.answer(.running, [watched.task(0, "running"), watched.task(4, "running")])
        #expect(watched.ids.first == 0 && watched.model.selected?.id == 4)
    }

    @Test func tasksThatShareATransferCountOnceInTheTotalProgress() throws {
        var watched = Watched()
        let shared = try (1...3 as ClosedRange<Int64>).map { id in
            let fields: JSONObject = [
                "transfer": 7, "progress": ["received": 50, "sent": 0, "total": 200, "rate": 0, "eta": nil],
            ]
            return WatchTask(try TaskRecord(lenient: Wire.task(id, "running", fields)))
        }
        watched.answer(.running, shared + [watched.task(9, "running")])
        #expect(watched.model.totals.done == 50 && watched.model.totals.total == 300)
        for id: Int64 in 1...3 {
            watched.model.onEvent(try EventMessage(lenient: Wire.completed(id, size: 200)))
        }
        #expect(watched.model.totals.done == 200 && watched.model.totals.total == 300)
    }

    @Test func aRateIsShownInTheUnitsOfTheTasksLimit() throws {
        let key = WatchPageKey(section: .running, index: 0, cursor: nil, filter: WatchFilter())
        let fields = try #require(WatchRequest.page(key, generation: 0).params["fields"]?.arrayValue)
        #expect(fields.contains("max_recv_rate") && fields.contains("max_send_rate"))
    }
}
