import StrictJSON
import Testing
import XferModel
import XferProtocol

/// `not_before`, `window`, `deadline` and `after` on the wire.
struct ScheduleFieldTests {
    private static let url: JSONValue = "https://example.org/f"

    private func schedule(_ fields: JSONObject) throws -> TaskSchedule {
        var fields = fields
        fields["url"] = Self.url
        let request = TransferRequest(url: HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/f"))
        return try NewTask(strict: .object(fields)).specification(
            owner: Owner(uid: 1), request: request, defaults: TaskDefaults(directory: "/d")
        ).schedule
    }

    @Test func everyScheduleFieldReachesTheSpecificationAndComesBack() throws {
        let made = try schedule([
            "not_before": "2026-01-05T13:00:00+01:00", "deadline": "2026-01-06T12:00:00Z", "after": [7, 8, 7],
            "after_batch": 4, "after_group": "nightly",
            "window": ["times": ["22:00-06:00", "12:00-24:00"], "days": ["fri", "sat"], "zone": "Europe/Berlin"],
        ])
        let times = [DailyTimes("22:00-06:00"), DailyTimes("12:00-24:00")].compactMap(\.self)
        var wanted = TaskSchedule(
            notBefore: Timestamp(seconds: 1_767_614_400),
            window: TimeWindow(times: times, days: [.friday, .saturday], zone: "Europe/Berlin"),
            deadline: Timestamp(seconds: 1_767_700_800), after: [TaskID(7), TaskID(8)])
        (wanted.afterBatch, wanted.afterGroup) = (BatchID(4), "nightly")
        #expect(made == wanted)
        var specification = TaskSpecification(
            owner: Owner(uid: 1),
            request: TransferRequest(url: HTTPURL(scheme: .https, host: "h", port: 443, target: "/")),
            destination: Destination(directory: "/d"))
        specification.schedule = wanted
        let task = TransferTask(
            id: TaskID(9), specification: specification, state: .queued, rank: 9, createdAt: Timestamp(seconds: 0))
        let shown = TaskRecord(task).wire
        #expect(shown["not_before"] == "2026-01-05T12:00:00.000Z" && shown["after"] == [7, 8])
        #expect(shown["after_batch"] == 4 && shown["after_group"] == "nightly")
        #expect(
            shown["window"]?["times"] == ["22:00-06:00", "12:00-24:00"] && shown["window"]?["zone"] == "Europe/Berlin")
        #expect(try TaskRecord(wire: shown, mode: .lenient).schedule.window == Patch(wanted.window))
    }

    @Test func theMachinesOwnZoneIsTheDefault() throws {
        #expect(try schedule(["window": ["days": ["mon"]]]).window == TimeWindow(days: [.monday]))
        #expect(try schedule(["window": ["days": ["mon"], "zone": "local"]]).window == TimeWindow(days: [.monday]))
        #expect(WindowRecord(TimeWindow(days: [.monday])).zone == "local")
    }

    @Test(
        arguments: [
            (["window": [:]], "window", "times, days or both"),
            (["window": ["zone": "UTC"]], "window", "times, days or both"),
            (["window": ["times": []]], "window.times", "1 to 24 elements"),
            (["window": ["days": []]], "window.days", "1 to 7 elements"),
            (["window": ["times": ["22:00-22:00"]]], "window.times[0]", "two different times of day"),
            (["window": ["times": ["24:00-06:00"]]], "window.times[0]", "two different times of day"),
            (["window": ["times": ["9:00-10:00"]]], "window.times[0]", "two different times of day"),
            (["window": ["times": ["09:00-10:60"]]], "window.times[0]", "two different times of day"),
            (["window": ["times": ["09:00"]]], "window.times[0]", "two different times of day"),
            (["window": ["days": ["monday"]]], "window.days[0]", "one of"),
            (["window": ["days": ["mon"], "zone": "../passwd"]], "window.zone", "a time zone's name"),
            (["window": ["days": ["mon"], "zone": "/etc/localtime"]], "window.zone", "a time zone's name"),
            (["window": ["days": ["mon"], "tz": "UTC"]], "window.tz", "times"),
            (["not_before": "tomorrow"], "not_before", "an RFC 3339 time"),
            (["deadline": 1_767_614_400], "deadline", "an RFC 3339 time"),
            (["after": [0]], "after[0]", "a task id"), (["after": [-10_001]], "after[0]", "a task id"),
            (["after": 7], "after", "an array"), (["after_batch": 0], "after_batch", "a batch's id"),
            (["after_group": ""], "after_group", "characters"),
        ] as [(JSONObject, String, String)])
    func anInvalidScheduleFieldIsNamed(fields: JSONObject, path: String, expected: String) {
        let error = #expect(throws: WireError.self) { try schedule(fields) }
        #expect(error?.path == path && error?.expected.contains(expected) == true, "\(String(describing: error))")
    }

    @Test func anUpdateSetsAndClearsScheduleFields() throws {
        var specification = TaskSpecification(
            owner: Owner(uid: 1),
            request: TransferRequest(url: HTTPURL(scheme: .https, host: "h", port: 443, target: "/")),
            destination: Destination(directory: "/d"))
        let set = try TaskChanges(strict: [
            "not_before": "2026-01-05T12:00:00Z", "window": ["days": ["sun"]], "deadline": "2026-01-06T12:00:00Z",
            "after": [3, 3, 4],
        ])
        set.apply(to: &specification)
        #expect(specification.schedule.after == [TaskID(3), TaskID(4)] && specification.schedule.hasCalendar)
        #expect(set.fieldRefusedWhileRunning == "after")
        let clear = try TaskChanges(strict: ["not_before": nil, "window": nil, "deadline": nil])
        #expect(clear.fieldRefusedWhileRunning == nil)
        clear.apply(to: &specification)
        #expect(specification.schedule == TaskSchedule(after: [TaskID(3), TaskID(4)]))
        try TaskChanges(strict: ["after": nil]).apply(to: &specification)
        #expect(specification.schedule.isEmpty)
        let join = try TaskChanges(strict: ["after_batch": 4, "after_group": "nightly"])
        #expect(join.fieldRefusedWhileRunning == "after_batch" && !specification.schedule.hasTargets)
        join.apply(to: &specification)
        #expect(specification.schedule.hasTargets && !specification.schedule.hasCalendar)
        try TaskChanges(strict: ["after_batch": nil, "after_group": nil]).apply(to: &specification)
        #expect(specification.schedule == TaskSchedule())
        // A task that is there already has no place to count back from.
        #expect(throws: WireError.self) { try TaskChanges(strict: ["after": [-1]]) }
    }
}
