import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

@Suite struct WatchModelTests {
    @Test func everythingIsAskedForOnceAndTheSubscriptionFirst() {
        var watched = Watched()
        let requests = watched.model.requests(at: watched.now)
        #expect(requests.first == .subscribe && requests.dropFirst().first == .stats)
        #expect(watched.sections(of: requests) == WatchSection.allCases)
        #expect(watched.model.requests(at: watched.now).isEmpty, "until the answers come")
    }

    @Test func rowsAreRunningQueuedWaitingHeldAndEndedTasks() {
        let watched = Watched([
            (1, "completed"), (2, "waiting"), (3, "queued"), (4, "running"), (5, "paused"), (6, "staged"),
            (7, "failed"),
            (8, "running"),
        ])
        #expect(watched.ids == [4, 8, 3, 2, 5, 6, 7, 1])
    }

    @Test func aTaskIsListedOnceWhereItStandsFirst() {
        var watched = Watched([(1, "running"), (2, "queued")])
        watched.answer(.queued, [watched.task(1, "queued"), watched.task(2, "queued")])
        #expect(watched.ids == [1, 2])
    }

    @Test func theSelectionFollowsTheTaskAndNotTheRow() throws {
        var watched = Watched([(1, "running"), (2, "running"), (3, "queued")])
        watched.press(.down)
        #expect(watched.model.selected?.id == 2 && watched.model.cursor == 1)
        watched.model.onEvent(try EventMessage(lenient: Wire.completed(1)))
        #expect(watched.ids == [2, 3, 1] && watched.model.selected?.id == 2 && watched.model.cursor == 0)
        watched.model.onEvent(try EventMessage(lenient: Wire.completed(2)))
        #expect(watched.ids == [3, 2, 1] && watched.model.selected?.state == .completed && watched.model.cursor == 1)
    }

    @Test func aRemovedTaskLeavesTheSelectionToItsNeighbour() throws {
        var watched = Watched([(1, "running"), (2, "queued"), (3, "queued")])
        watched.press(.down)
        watched.model.onEvent(try EventMessage(lenient: Wire.event("task.removed", 2, seq: 9)))
        #expect(watched.model.selected?.id == 2, "it may only be on its way to another section")
        watched.tasks[2] = nil
        watched.advance(seconds: 2)
        #expect(watched.ids == [1, 3] && watched.model.selected?.id == 3)
    }

    @Test func eventsTakenAtOnceLeadToWhatTheyLeadToOneByOne() throws {
        let events = try [
            Wire.progress(1, received: 50, total: 200), Wire.completed(1), Wire.progress(3, received: 10, total: 100),
            Wire.event("task.removed", 2, seq: 9), Wire.completed(3), Wire.progress(4, received: 7, total: 70),
        ].map { try EventMessage(lenient: $0) }
        var one = Watched([(1, "running"), (2, "queued"), (3, "running"), (4, "running")])
        var all = one
        for event in events { one.model.onEvent(event) }
        all.model.onEvents(events)
        #expect(all.model.rows == one.model.rows && all.model.totals == one.model.totals)
        #expect(all.model.selected == one.model.selected && all.model.list.generation == one.model.list.generation)
        #expect(all.ids == [4, 3, 1])
    }

    @Test func progressOfAKnownTaskNeedsNoListing() throws {
        var watched = Watched([(1, "running")])
        let before = watched.model.list.generation
        watched.model.onEvent(try EventMessage(lenient: Wire.progress(1, received: 50, total: 200)))
        #expect(watched.model.list.generation == before && watched.model.selected?.summary.received == 50)
        #expect(watched.model.totals.done == 50 && watched.model.totals.total == 200)
        watched.model.onEvent(try EventMessage(lenient: Wire.progress(77, received: 50, total: 100)))
        #expect(watched.model.list.generation > before, "a task that is not listed yet")
    }

    @Test func aListingIsRepeatedAtMostOnceASecond() throws {
        var watched = Watched([(1, "running")])
        for seq in Int64(20)..<30 {
            watched.model.onEvent(try EventMessage(lenient: Wire.event("task.added", 50, seq: seq)))
            watched.now += .milliseconds(10)
            #expect(watched.sections(of: watched.model.requests(at: watched.now)) == [])
        }
        watched.now += .seconds(1)
        #expect(watched.sections(of: watched.model.requests(at: watched.now)).first == .running)
    }

    @Test func anIdleQueueWakesNothing() {
        var watched = Watched([(1, "completed"), (2, "paused")])
        watched.advance(seconds: RateHistory.capacity + 2)
        #expect(watched.model.requests(at: watched.now).isEmpty && watched.model.wakeUp(at: watched.now) == nil)
    }

    @Test func aCountdownWakesTheViewEachSecond() {
        let watched = Watched([(1, "waiting")], ["wait": ["reason": "retry", "until": "2030-01-02T03:04:05.000Z"]])
        #expect(watched.model.wakeUp(at: watched.now) == watched.now + .seconds(1))
    }

    @Test func tasksThatShareATransferCountOnceInTheTotalRate() {
        var watched = Watched([(1, "running"), (2, "running")])
        var stats = QueueStats.Result()
        stats.rates = QueueStats.Rates(received: 5, sent: 2)
        watched.model.onAnswer(.stats(stats), to: .stats, at: watched.now)
        #expect(watched.model.rate == 7 && watched.model.isMoving)
    }

    @Test func aGuestSeesCountsAndTheRatesOfItsTasks() throws {
        var watched = Watched([(1, "running")])
        watched.model.onEvent(try EventMessage(lenient: Wire.progress(1, received: 5, total: 9)))
        watched.model.onAnswer(.refused("no", code: .permissionDenied), to: .stats, at: watched.now)
        #expect(watched.model.message == nil)
        var guest = WatchModel()
        _ = guest.requests(at: watched.now)
        guest.onAnswer(.refused("no", code: .permissionDenied), to: .stats, at: watched.now)
        #expect(guest.requests(at: watched.now) == [.status])
    }

    @Test func anOverflowSubscribesAgain() throws {
        var watched = Watched()
        watched.advance(seconds: 0)
        let overflow: JSONValue = ["time": "2026-01-02T03:04:05.678Z", "type": "events.overflow", "last_seq": 4]
        watched.model.onEvent(try EventMessage(lenient: overflow))
        #expect(watched.model.requests(at: watched.now).first == .subscribe)
    }

    // MARK: Many tasks

    @Test func onlyPagesThatAreSeenAreAskedFor() {
        var watched = Watched((1...20_000).map { ($0, "queued") })
        watched.advance(seconds: 3)
        let loaded = watched.ids.count
        #expect(loaded <= 2 * WatchRequest.pageSize)
        #expect(watched.model.rows.last == .more(.queued, Int64(20_000 - loaded)))
        for _ in 0..<20 { watched.press(.pageDown) }
        #expect(watched.model.selected?.id == watched.ids[watched.model.cursor])
        #expect(watched.ids.count > loaded && watched.ids.count < 1000)
        let before = watched.ids.count
        watched.press(.end)
        watched.press(.home)
        #expect(watched.ids.count <= before + WatchRequest.pageSize)
    }

    @Test func tasksAboveTheSelectionAreNotLoadedWithoutEnd() {
        var watched = Watched((1...5000).map { ($0, "queued") } + [(9000, "waiting")])
        watched.press(.end)
        #expect(watched.model.selected?.id == 9000)
        watched.advance(seconds: 60)
        #expect(watched.ids.count < 1000)
    }

    @Test func theSelectionStaysWhereItIsOnTheScreenWhileTasksComeAboveIt() {
        var watched = Watched((1...500).map { ($0, "queued") } + (600...640).map { ($0, "waiting") })
        watched.press(.end)
        let offset = watched.model.cursor - watched.model.top
        watched.tasks[550] = "running"
        watched.model.requestAgain()
        watched.advance(seconds: 1)
        #expect(watched.model.selected?.id == 640 && watched.ids.contains(550))
        #expect(watched.model.cursor - watched.model.top == offset)
    }

    @Test func aRefusedPageIsNotAskedForWithoutEnd() {
        var watched = Watched((1...500).map { ($0, "queued") })
        watched.model.requestAgain()
        for second in 0..<5 {
            let requests = watched.model.requests(at: watched.now)
            #expect(requests.filter { $0.method == "task.list" }.count <= 5, "in second \(second)")
            for request in requests {
                watched.model.onAnswer(.refused("full", code: .storageUnavailable), to: request, at: watched.now)
            }
            #expect(watched.model.requests(at: watched.now).isEmpty)
            #expect(watched.model.message == WatchMessage("full", isRefusal: true))
            watched.now += .seconds(1)
        }
        watched.advance(seconds: 2)
        #expect(watched.ids.first == 1)
    }

    @Test func aPlaceThatTheDaemonNoLongerKnowsBeginsTheSectionAnew() {
        var watched = Watched((1...500).map { ($0, "queued") })
        for _ in 0..<12 { watched.press(.pageDown) }
        watched.model.requestAgain()
        for request in watched.model.requests(at: watched.now) {
            watched.model.onAnswer(.refused("cursor", code: .invalidParams), to: request, at: watched.now)
        }
        watched.advance(seconds: 5)
        watched.press(.home)
        for _ in 0..<40 { watched.press(.pageDown) }
        #expect(watched.ids == (1...500).map { Int64($0) })
    }

    @Test func pagesThatShiftLeaveNoTaskTwiceAndNoneOut() {
        var watched = Watched((1...260).map { ($0, "queued") })
        for _ in 0..<12 { watched.press(.pageDown) }
        for id in Int64(1)...40 { watched.tasks[id] = "completed" }
        watched.press(.home)
        watched.model.requestAgain()
        watched.advance(seconds: 3)
        // The selected task has ended, and the selection went with it.
        watched.press(.home)
        for _ in 0..<40 { watched.press(.pageDown) }
        #expect(watched.ids.filter { $0 > 40 } == (41...260).map { Int64($0) })
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func whateverIsAskedForInBetweenTheFilterFindsEveryTask(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var watched = Watched((1...1500).map { ($0, $0 % 10 == 0 ? "waiting" : "queued") })
        let keys: [Key] = [
            .down, .pageDown, .pageDown, .end, .home, "/", "f", "2", "9", .backspace, .enter, .escape, .up, .pageUp,
        ]
        for _ in 0..<60 {
            watched.pressOnly(keys.randomElement(using: &random) ?? .down)
            if Int.random(in: 0..<4, using: &random) == 0 {
                let id = Int64.random(in: 1...1500, using: &random)
                let state = ["running", "queued", "waiting", "completed"].randomElement(using: &random) ?? "queued"
                watched.tasks[id] = state
                watched.model.requestAgain()
            }
            if Int.random(in: 0..<9, using: &random) == 0 { watched.now += .seconds(1) }
            watched.answerPending(Int.random(in: 0...3, using: &random))
        }
        for key: Key in [.escape, .escape, .escape, "/", .control("u"), "9", "9", .enter] { watched.press(key) }
        watched.model.requestAgain()
        watched.advance(seconds: 10)
        let expected = (1...1500).filter { "file\($0)".contains("99") }.map { Int64($0) }
        #expect(Set(watched.ids) == Set(expected) && watched.ids.count == expected.count)
        for row in watched.model.rows {
            guard case .task(let task) = row else { continue }
            #expect(task.summary.state == watched.tasks[task.id] || task.section != .running, "\(task.id)")
        }
    }

    // MARK: The filter

    @Test func theFilterSearchesEveryPage() {
        var watched = Watched((1...3000).map { ($0, "queued") } + [(3001, "failed")])
        for _ in 0..<10 { watched.press(.pageDown) }
        watched.press("/")
        for character in "file29" { watched.press(.character(character)) }
        #expect(watched.ids.first == 29 && watched.ids.last == 2999 && watched.ids.count == 111)
        #expect(!watched.model.visible.isEmpty && watched.model.selected?.id == 29)
        watched.press(.escape)
        watched.press(.home)
        #expect(watched.ids.first == 1 && watched.model.selected?.id == 1 && watched.model.filter.isEmpty)
    }

    @Test func aStateInTheFilterAsksForThatStateAlone() {
        var watched = Watched([(1, "running"), (2, "failed"), (3, "completed")])
        watched.press("/")
        for character in "failed" { watched.press(.character(character)) }
        watched.press(.enter)
        #expect(watched.ids == [2] && watched.model.prompt == nil)
        let last = watched.pageRequests.last { $0.section == .ended }
        #expect(last?.filter.states == [.failed])
        #expect(watched.model.totals.total > 0, "the sums are of all that runs")
        watched.press(.escape)
        #expect(watched.ids == [1, 3, 2])
    }

    @Test(arguments: [
        ("FILE1", true), ("file1 host", true), ("file1 nowhere", false), ("#1", true), ("host:81", true),
        ("connect timeout", true), ("a label", true), ("waiting", true), ("running", false), ("running waiting", true),
        ("wait", true), ("", true), ("  ", true),
    ])
    func wordsAreFoundInWhatATaskShows(text: String, isFound: Bool) {
        var task = WatchTask(summary: TaskSummary(id: 1, name: "A label", state: "waiting", waitReason: "retry"))
        (task.fileName, task.host) = ("File1.iso", "host:81")
        task.summary.failure = .init(reason: "connect_timeout", message: "")
        #expect(WatchFilter(text).matches(task) == isFound)
    }

    @Test(arguments: [
        ("http://host/a", "host"), ("https://host:8443/a@b", "host:8443"), ("http://u:***@host?q", "host"), ("x", ""),
        ("http://[::1]:80", "[::1]:80"),
    ])
    func theHostIsTakenFromTheURL(url: String, host: String) {
        #expect(WatchTask.host(of: url) == host)
    }
}

@Suite struct WatchKeyTests {
    @Test(arguments: [
        ("running", WatchVerb.pause), ("queued", .pause), ("waiting", .pause), ("staged", .pause), ("paused", .resume),
    ])
    func spacePausesOrResumes(state: String, participle: WatchVerb) {
        var watched = Watched([(7, state)])
        #expect(watched.model.onKey(.character(" ")) == .send(.act(participle, 7)))
    }

    @Test(arguments: [("failed", WatchVerb.retry), ("waiting", .resume), ("running", .retry), ("completed", .retry)])
    func retryTriesAWaitingTaskNow(state: String, participle: WatchVerb) {
        var watched = Watched([(7, state)])
        #expect(watched.model.onKey(.character("r")) == .send(.act(participle, 7)))
    }

    @Test func cancellingIsAskedBeforeItIsDone() {
        for (key, action) in [
            (Key.character("y"), WatchAction.send(.act(.cancel, 7))), (.character("n"), nil), (.escape, nil),
            (.enter, nil), (.character("q"), nil),
        ] as [(Key, WatchAction?)] {
            var watched = Watched([(7, "running")])
            #expect(watched.model.onKey(.character("c")) == nil && watched.model.prompt != nil)
            #expect(watched.model.onKey(key) == action && watched.model.prompt == nil, "\(key)")
        }
    }

    @Test(arguments: [" ", "c", "l"]) func anEndedTaskIsRefusedAtOnce(key: Character) {
        var watched = Watched([(7, "completed")])
        #expect(watched.model.onKey(.character(key)) == nil)
        #expect(watched.model.message?.isRefusal == true && watched.model.prompt == nil)
    }

    @Test(arguments: [
        ("500K", Int64(500_000)), ("2Mi", 2 << 20), ("0", 0), (" 1.5M ", 1_500_000), ("64k/s", 64_000),
    ])
    func aTypedRateIsReadAsOnTheCommandLine(text: String, rate: Int64) {
        var watched = Watched([(7, "running")])
        for (key, request) in [
            (Character("l"), WatchRequest.limitTask(7, rate: rate, isUpload: false)), ("L", .limitAll(rate: rate)),
        ] {
            watched.press(.character(key))
            for character in text { #expect(watched.model.onKey(.character(character)) == nil) }
            #expect(watched.model.onKey(.enter) == .send(request))
            #expect(watched.model.prompt == nil)
        }
    }

    @Test func anUnreadableRateStaysToBeCorrected() {
        var watched = Watched([(7, "running")])
        for key: Key in [.character("l"), .character("5"), .character("x"), .enter] { watched.press(key) }
        #expect(watched.model.message?.text == "expected a rate such as 500K or 2Mi, found \"5x\"")
        watched.press(.backspace)
        #expect(watched.model.onKey(.enter) == .send(.limitTask(7, rate: 5, isUpload: false)))
    }

    @Test func lettersOfAPromptAreNoCommands() {
        var watched = Watched([(7, "running")])
        for key: Key in [.character("/"), .character("q"), .character("?"), .character(" ")] {
            #expect(watched.model.onKey(key) == nil)
        }
        #expect(watched.model.filter.text == "q? " && !watched.model.isHelpShown)
    }

    @Test func defaultClearsTheLimitOfAll() {
        var watched = Watched()
        watched.press("L")
        for character in "default" { watched.press(.character(character)) }
        #expect(watched.model.onKey(.enter) == .send(.limitAll(rate: nil)))
        #expect(WatchRequest.limitAll(rate: nil).params == ["max_recv_rate": nil])
    }

    @Test func outcomesAndRefusalsAreReported() {
        var watched = Watched([(7, "running")])
        func outcome(_ result: SelectionResult.Listed, _ participle: WatchVerb) -> WatchMessage? {
            watched.model.onAnswer(.acted(.ids(result)), to: .act(participle, 7), at: watched.now)
            return watched.model.message
        }
        let seven = TaskID(7)
        #expect(outcome(.init(changed: [seven], unchanged: [], missing: []), .pause)?.text == "paused: #7")
        let unchanged = SelectionResult.Unchanged(id: seven, state: .running, reason: .notResumable)
        let refused = outcome(.init(changed: [], unchanged: [unchanged], missing: []), .pause)
        #expect(refused == WatchMessage("not paused: #7 is running (not resumable)", isRefusal: true))
        let missing = outcome(.init(changed: [], unchanged: [], missing: [seven]), .retry)
        #expect(missing?.text == "there is no task 7" && missing?.isRefusal == true)
        watched.model.onAnswer(
            .refused("id: only queued tasks", code: .invalidState), to: .act(.moveToTop, 7), at: watched.now)
        #expect(watched.model.message?.text == "id: only queued tasks")
        watched.press(.up)
        #expect(watched.model.message == nil, "the next key clears it")
    }

    @Test func detailsFollowTheSelection() {
        var watched = Watched([(1, "running"), (2, "queued")])
        watched.press("o")
        #expect(watched.model.pane?.record?.id == TaskID(1))
        watched.press(.down)
        #expect(watched.model.pane?.record?.id == TaskID(2))
        watched.press(.escape)
        #expect(watched.model.pane == nil)
    }

    @Test func pagesScrollTheDetailsWhileTheyAreOpen() {
        var watched = Watched([(1, "running")])
        watched.model.size = Terminal.Size(columns: 80, rows: 16)
        watched.press("o")
        watched.press(.pageDown)
        #expect(watched.model.pane.map { $0.top } != nil)
        watched.press(.home)
        #expect(watched.model.pane?.top == 0)
    }

    @Test func helpIsClosedByAnyOtherKey() {
        var watched = Watched([(1, "running")])
        watched.press("?")
        #expect(watched.model.isHelpShown)
        watched.press(.down)
        #expect(watched.model.isHelpShown)
        watched.press(.escape)
        #expect(!watched.model.isHelpShown)
    }

    @Test(arguments: [Key.character("q"), .character("Q"), .control("c"), .control("d")]) func keysQuit(key: Key) {
        var watched = Watched()
        #expect(watched.model.onKey(key) == .quit)
        watched.press("?")
        #expect(watched.model.onKey(key) == .quit)
    }

    @Test func keysWithoutTasksDoNothingHarmful() {
        var watched = Watched()
        let keys: [Key] = [
            .up, .down, .pageUp, .pageDown, .home, .end, .enter, .escape, .tab, .left, .insert, .function(3),
        ]
        for key in keys + " crtblo/Lx".map({ Key.character($0) }) + keys { #expect(watched.model.onKey(key) != .quit) }
    }
}
