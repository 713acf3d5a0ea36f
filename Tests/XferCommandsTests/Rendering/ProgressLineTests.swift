import Testing
import XferModel

@testable import XferCommands

@Suite struct ProgressLineTests {
    private func renderer(_ width: Int) -> ProgressLine {
        ProgressLine(style: .plain, bar: Bar(usesUnicode: true), width: width, now: Timestamp(microseconds: 0))
    }

    private var running: TaskSummary {
        TaskSummary(
            id: 7, name: "debian.iso", state: "running", phase: "transferring", received: 300 << 20, total: 600 << 20,
            rate: 12 << 20, eta: 25)
    }

    @Test func aRunningTaskShowsBarPercentRateTimeLeftAndAmount() {
        #expect(
            renderer(80).line(running).text
                == "debian.iso                  █████▌░░░░░  50%   12 MiB/s    25s   300 MiB/600 MiB")
    }

    @Test(arguments: [10, 14, 20, 30, 40, 60, 80, 120, 250])
    func aProgressLineNeverExceedsTheTerminalAndReportsItsWidth(width: Int) {
        var wide = running
        wide.name = "日本語のとても長いファイル名です.tar.gz"
        for task in [running, wide] {
            let line = renderer(width).line(task)
            #expect(line.columns <= width)
            #expect(line.columns == TextWidth.columns(of: line.text))
        }
    }

    @Test func anUnknownLengthShowsTheReceivedAmount() {
        var task = running
        task.total = nil
        task.eta = nil
        let text = renderer(80).line(task).text
        #expect(text.contains("300 MiB") && !text.contains("%"))
    }

    @Test func aWaitingTaskShowsReasonAndTime() {
        var task = running
        task.state = "waiting"
        task.waitReason = "retry"
        task.waitUntil = Timestamp(microseconds: 11_500_000)
        task.failure = .init(reason: "connection_lost", message: "reset")
        #expect(renderer(100).line(task).text.hasSuffix("waiting next attempt in 12s after connection lost"))
    }

    @Test func verificationIsShownAsSuch() {
        var task = running
        task.phase = "verifying"
        #expect(renderer(80).line(task).text.contains("verifying 300 MiB/600 MiB"))
    }
}

@Suite struct OutcomeTextTests {
    private let text = OutcomeText(style: .plain)

    @Test func aCompletedTaskNamesItsFile() {
        let task = TaskSummary(
            id: 7, name: "a.iso", state: "completed", received: 10, total: 10, finalPath: "/d/a (1).iso")
        #expect(text.lines(task) == ["#7 completed: a.iso -> /d/a (1).iso (10 B)"])
    }

    @Test(arguments: [
        (true, "#7 completed: a.iso (already complete, verified: /d/a.iso)"),
        (false, "#7 completed: a.iso (skipped: /d/a.iso exists)"),
    ])
    func aFileThatWasKeptIsSaidToBeVerifiedIfItWas(isVerified: Bool, line: String) {
        let task = TaskSummary(
            id: 7, name: "a.iso", state: "completed", finalPath: "/d/a.iso", isSkipped: true, isVerified: isVerified)
        #expect(text.lines(task) == [line])
    }

    @Test func aFailedTaskShowsReasonMessageAndAdvice() {
        let failure = TaskSummary.Failure(reason: "http_status", message: "the server answered 404 Not Found")
        let task = TaskSummary(id: 7, name: "a.iso", state: "failed", failure: failure)
        #expect(
            text.lines(task) == [
                "#7 failed: a.iso: the server answered 404 Not Found (http_status)",
                "    Check the URL, or set another with `xferctl set-source 7 URL`; later, `xferctl retry 7`.",
            ])
    }

    @Test(arguments: FailureReason.allCases)
    func everyKnownFailureReasonHasAdvice(reason: FailureReason) throws {
        let advice = try #require(FailureAdvice.sentence(reason: reason.rawValue, id: 1))
        #expect(advice.hasSuffix(".") && advice.count > 20)
    }

    @Test func aFailureReasonOfANewerDaemonHasGeneralAdvice() {
        #expect(FailureAdvice.sentence(reason: "quota_exceeded", id: 3) == "See `xferctl show 3`.")
    }
}
