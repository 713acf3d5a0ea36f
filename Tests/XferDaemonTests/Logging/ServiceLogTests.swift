import Glibc
import Logging
import StrictJSON
import Testing
import XferModel
import XferTestSupport

@testable import XferDaemon

@Suite struct ServiceLogTests {
    @Test func aTextLineBeginsWithTimeAndLevel() {
        #expect(
            record("started", ["uid": "7", "dir": "/a b"]).line(.text)
                == "2026-01-02T03:04:05.678Z warning  xferd: started dir=\"/a b\" uid=7")
    }

    @Test(
        arguments: [
            (.trace, 7), (.debug, 7), (.info, 6), (.notice, 5), (.warning, 4), (.error, 3), (.critical, 2),
        ] as [(Logger.Level, Int)])
    func aJournalLineHasAPriorityAndNoTime(level: Logger.Level, priority: Int) {
        #expect(record("x", level: level).line(.journal) == "<\(priority)>xferd: x")
    }

    @Test func aJSONLineIsOneObject() throws {
        let line = record("say \"hi\"\n", ["n": "1", "task": "7", "seconds": "1.5", "count": "many"]).line(.json)
        #expect(!line.contains("\n"))
        let value = try JSONValue(parsing: Array(line.utf8))
        #expect(value["time"] == "2026-01-02T03:04:05.678Z")
        #expect(value["level"] == "warning")
        #expect(value["message"] == "say \"hi\"\n")
        #expect(value["fields"] == ["n": "1", "task": 7, "seconds": 1.5, "count": "many"])
    }

    @Test(arguments: [LogRecord.Form.text, .journal, .plain])
    func aMessageCannotForgeASecondLineOrControlTheTerminal(form: LogRecord.Form) {
        let line = record("a\n<0>b\u{1B}[2J\r", ["k": "v\nw"]).line(form)
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 })
        #expect(line.hasSuffix("a\\n<0>b\\u{1b}[2J\\r k=v\\nw"))
    }

    @Test(arguments: [LogRecord.Form.text, .journal, .json])
    func secretsAreHiddenWhereverTheyStand(form: LogRecord.Form) {
        let line = record(
            "GET https://ann:hunter2@example.org/f?token=hunter2&page=3 failed",
            [
                "url": "http://u:hunter2@h/", "authorization": "Basic hunter2", "api_key": "hunter2",
                "headers": ["X-Auth-Token": "hunter2", "Accept": "text/html"], "urls": ["http://h/?sig=hunter2"],
                "password": .stringConvertible("hunter2"),
            ]
        ).line(form)
        #expect(!line.contains("hunter2"))
        #expect(line.contains("page=3 failed"))
        #expect(line.contains("text/html") || line.contains("text\\/html"))
    }

    @Test func namesThatOnlyResembleASecretsAreShown() {
        let line = record("x", ["signal": "hangUp", "keys": ["queue.order"], "tasks": "3"]).line(.text)
        #expect(line.hasSuffix(": x keys=[queue.order] signal=hangUp tasks=3"))
    }

    @Test func aLevelChangeAppliesToLoggersWithoutALevelOfTheirOwn() throws {
        let (log, output) = try logToPipe(.text, level: .info)
        let logger = log.logger(label: "a")
        var verbose = log.logger(label: "b")
        verbose.logLevel = .trace
        logger.debug("one")
        log.level = .debug
        logger.debug("two")
        log.level = .error
        logger.warning("three")
        verbose.trace("four")
        let lines = output().map { $0.drop { $0 != " " }.trimmingPrefix(" ") }
        #expect(lines == ["debug    a: two", "trace    b: four"])
    }

    @Test func fieldsOfTheMessageOverrideThoseOfTheLogger() throws {
        let (log, output) = try logToPipe(.journal, level: .info)
        var logger = log.logger(label: "a")
        logger[metadataKey: "task"] = "1"
        logger[metadataKey: "host"] = "h"
        logger.notice("x", metadata: ["task": "2"])
        #expect(output() == ["<5>a: x host=h task=2"])
    }

    @Test func aClosedStreamLosesOnlyItsMessages() throws {
        let log = ServiceLog(level: .info, format: .text, descriptor: -1)
        log.logger(label: "a").critical("x")
        #expect(log.level == .info)
    }

    @Test func theJournalIsRecognisedByDeviceAndInode() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var status = stat()
        try #require(fstat(ends[1], &status) == 0)
        func resolved(_ format: LogFormat, _ stream: String?) -> LogFormat {
            format.resolved(
                environment: stream.map { ["JOURNAL_STREAM": $0] } ?? [:], standardError: ends[1])
        }
        #expect(resolved(.auto, "\(status.st_dev):\(status.st_ino)") == .journal)
        #expect(resolved(.auto, "\(status.st_dev):\(status.st_ino + 1)") == .text)
        #expect(resolved(.auto, nil) == .text)
        #expect(resolved(.json, "\(status.st_dev):\(status.st_ino)") == .json)
    }

    // MARK: The journal's socket

    @Test func theJournalGetsFieldsByWhichItFindsTheTask() async throws {
        let directory = try TemporaryDirectory()
        let receiver = try DatagramReceiver(directory.file("journal"))
        let journal = try #require(JournalSocket(path: directory.file("journal")))
        let log = ServiceLog(level: .info, format: .journal, journal: journal, descriptor: -1)
        log.logger(label: "xferd").info(
            "a task has failed", metadata: ["task": "17", "host": "a.test", "reason": "http_status"])
        #expect(
            receiver.next() == """
                MESSAGE=xferd: a task has failed host=a.test reason=http_status task=17
                PRIORITY=6
                SYSLOG_IDENTIFIER=xferd
                XFER_HOST=a.test
                XFER_REASON=http_status
                XFER_TASK=17

                """)
    }

    @Test func aValueWithALineBreakForgesNoField() {
        let bytes = JournalSocket.datagram(record("x", ["no-te\n": "a\nPRIORITY=0", "password": "hunter2"]))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("\nXFER_NO_TE_\n\u{c}\0\0\0\0\0\0\0a\nPRIORITY=0\n"))
        #expect(!text.contains("hunter2"))
    }

    @Test func whatTheJournalDoesNotTakeGoesToStandardError() throws {
        let directory = try TemporaryDirectory()
        let journal = try #require(JournalSocket(path: directory.file("nothing")))
        let (log, output) = try logToPipe(.journal, level: .info, journal: journal)
        log.logger(label: "a").notice("x", metadata: ["task": "2"])
        #expect(output() == ["<5>a: x task=2"])
    }

    private func record(
        _ message: String, _ metadata: Logger.Metadata = [:], level: Logger.Level = .warning
    ) -> LogRecord {
        LogRecord(
            time: Timestamp(microseconds: 1_767_323_045_678_000), level: level, label: "xferd", message: message,
            metadata: metadata)
    }

    /// A log into a pipe, and what closes it and gives the lines.
    private func logToPipe(
        _ format: LogFormat, level: Logger.Level, journal: JournalSocket? = nil
    ) throws -> (log: ServiceLog, lines: () -> [String]) {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        return (
            ServiceLog(level: level, format: format, journal: journal, descriptor: writing),
            {
                close(writing)
                defer { close(reading) }
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let count = read(reading, &buffer, buffer.count)
                return String(decoding: buffer[..<max(0, count)], as: UTF8.self).split(separator: "\n").map(String.init)
            }
        )
    }
}
