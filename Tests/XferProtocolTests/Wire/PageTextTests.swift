import StrictJSON
import Testing
import XferModel

@testable import XferProtocol

/// Pages end by their length.
struct PageTextTests {
    private static func hook(_ name: String, _ length: Int = 0) -> HookRecord {
        var record = HookRecord()
        record.name = name
        record.argv = [String(repeating: "x", count: length)]
        return record
    }

    private static func size(_ record: HookRecord) -> Int {
        var text: [UInt8] = []
        record.write(to: &text)
        return text.count
    }

    @Test func aPageEndsAtItsLimitAndItsFirstElementAlwaysFits() throws {
        let element = Self.hook("a", 20)
        let size = Self.size(element)
        // Two elements, and a comma between them.
        for (limit, count) in [(1, 1), (2 * size, 1), (2 * size + 1, 2), (3 * size + 1, 2), (3 * size + 2, 3)] {
            var page = PageText(limit: limit)
            var taken = 0
            while taken < 5, page.append(element) { taken += 1 }
            #expect(taken == count && page.count == count, "\(limit)")
            let answer = try JSONValue(parsing: page.answer(HookList.Result(nextCursor: "next")))
            let elements = Array(repeating: element, count: count)
            #expect(answer == HookList.Result(elements, nextCursor: "next").wire)
        }
    }

    @Test func aPageWithoutElementsIsTheEmptyAnswer() throws {
        let page = PageText()
        let result = TaskList.Result(tasks: [], nextCursor: nil, unreadable: [TaskID(3)])
        #expect(try JSONValue(parsing: page.answer(result)) == result.wire)
        let hosts = StrictTransportList.Result(mode: .deny, hosts: [], nextCursor: nil)
        #expect(try JSONValue(parsing: page.answer(hosts)) == hosts.wire)
    }

    @Test func namedObjectsAreListedOnceInTheOrderOfBytes() throws {
        // U+FF5E sorts before U+1F600 by bytes; "e" with a combining accent equals "é" for Swift and not for SQLite.
        let names = ["b", "a", "\u{1F600}", "\u{FF5E}", "e\u{301}", "\u{E9}", "B", ""]
        for limit in 1...9 {
            var (found, cursor): ([String], String?) = ([], nil)
            repeat {
                let text = PageText.named(
                    names, NamedPageParams(limit: limit, cursor: cursor), as: HookList.Result.self, name: { $0 },
                    record: { Self.hook($0) })
                let page = try HookList.Result(wire: try JSONValue(parsing: text), mode: .lenient)
                #expect(page.hooks.count <= limit)
                found += page.hooks.map(\.name)
                cursor = page.nextCursor
            } while cursor != nil && found.count < 20
            #expect(
                found.map { Array($0.utf8) } == names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
            )
        }
    }

    @Test func aTaskThatIsLongerThanAMessageIsAbridged() throws {
        var task = TaskRecord()
        task.id = TaskID(7)
        task.state = OpenEnum(.queued)
        task.meta = .string(String(repeating: "m", count: PageText.largestElement))
        var page = PageText()
        let isTaken = page.append(task)
        #expect(isTaken)
        let answer = page.answer(TaskList.Result(tasks: [], nextCursor: nil))
        let found = try TaskList.Result(wire: try JSONValue(parsing: answer), mode: .lenient).tasks
        #expect(found.map(\.id) == [TaskID(7)] && found.first?.state == OpenEnum(.queued))
        #expect(found.first?.isAbridged == true && found.first?.meta == nil)
        task.meta = .string("short")
        var other = PageText()
        let isOtherTaken = other.append(task)
        #expect(isOtherTaken)
        let text = String(decoding: other.answer(TaskList.Result(tasks: [], nextCursor: nil)), as: UTF8.self)
        #expect(text.contains("short") && !text.contains("abridged"))
    }

    @Test func aPageOfEventsThatIsCutGoesOnBehindItsLastOne() throws {
        let events = (1...4).map { number in
            EventMessage(
                Event(
                    seq: Int64(number), time: Timestamp(rawValue: 0), taskID: TaskID(1), owner: nil,
                    payload: .taskCompleted(
                        path: "/" + String(repeating: "p", count: PageText.limit * 2 / 5), size: 1, skipped: false,
                        notModified: false)))
        }
        func reached(_ events: [EventMessage]) throws -> (Int, Int64) {
            let text = PageText.events(events, reached: 99)
            let page = try EventsSince.Page(wire: try JSONValue(parsing: text), mode: .lenient)
            return (page.events.count, page.lastSeq)
        }
        #expect(try reached([]) == (0, 99))
        #expect(try reached(Array(events.prefix(2))) == (2, 99))
        #expect(try reached(events) == (2, 2))
    }
}
