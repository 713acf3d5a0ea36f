public import StrictJSON
public import XferModel

/// Times of day within which a task may run.
public struct WindowRecord: WireInput, Hashable {
    public var times: [DailyTimes]?
    public var days: [Weekday]?
    public var zone: String?

    public init() {}

    public init(_ window: TimeWindow) {
        times = window.times.isEmpty ? nil : window.times
        days = window.days.isEmpty ? nil : window.days
        zone = window.zone ?? Self.localZone
    }

    /// The name of the machine's own time zone on the wire.
    public static let localZone = "local"

    public var window: TimeWindow {
        TimeWindow(times: times ?? [], days: days ?? [], zone: zone == Self.localZone ? nil : zone)
    }

    public static let summary =
        "Times of day and days of the week at which the task may run, in the zone's local time."
    public static let wireFields: WireFields<Self> = [
        .optional(
            "times", \.times,
            "Times of day, such as 22:00-06:00; the end is excluded, and is on the next day unless later than the start; "
                + "default is the whole day.",
            .count(1...24), example: ["22:00-06:00"]),
        .optional(
            "days", \.days, "The days on which times begin; default is every day.", .count(1...7),
            example: ["mon", "tue", "wed", "thu", "fri"]),
        .optional(
            "zone", \.zone,
            "A time zone's name such as Europe/Berlin; local, the default, is the machine's own.", .length(1...255),
            .form("^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$", expected: "a time zone's name such as Europe/Berlin") {
                name in
                name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
                    !part.isEmpty
                        && part.utf8.allSatisfy {
                            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                                || "_+-".utf8.contains($0)
                        }
                }
            },
            example: "Europe/Berlin"),
    ]

    public func validate() throws(WireError) {
        guard times != nil || days != nil else { throw WireError(.missing, expected: "times, days or both") }
    }
}

/// On the wire a window is a `WindowRecord`.
extension TimeWindow: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        self = try WindowRecord(wire: value, mode: mode).window
    }

    public var wire: JSONValue { WindowRecord(self).wire }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue { WindowRecord.schema(in: &schemas) }
}

extension Weekday: WireEnum {}

/// On the wire, daily times are text of the form `HH:MM-HH:MM`.
extension DailyTimes: WireValue {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let text) = value else { throw .wrongType(expected: "times such as \"22:00-06:00\"") }
        guard let times = DailyTimes(text) else {
            throw WireError(
                .invalidValue,
                expected: "two different times of day such as \"22:00-06:00\"; \"00:00-24:00\" is the whole day")
        }
        self = times
    }

    public var wire: JSONValue { .string(description) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"]
    }
}
