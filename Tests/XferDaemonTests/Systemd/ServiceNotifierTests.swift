import Glibc
import Testing
import XferTestSupport

@testable import XferDaemon

@Suite struct ServiceNotifierTests {
    @Test func severalNotifyMessagesAreOneDatagramOfLines() throws {
        let directory = try TemporaryDirectory()
        let receiver = try DatagramReceiver(directory.file("notify"))
        let notifier = ServiceNotifier(environment: ["NOTIFY_SOCKET": directory.file("notify")])
        #expect(notifier.isEnabled)
        #expect(notifier.send(.ready, .status("2 active,\n3 queued")))
        #expect(receiver.next() == "READY=1\nSTATUS=2 active, 3 queued")
        #expect(notifier.send(.stopping, .extendTimeout(by: .milliseconds(2500)), .mainProcess(7)))
        #expect(receiver.next() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=2500000\nMAINPID=7")
        #expect(notifier.send(.watchdog))
        #expect(receiver.next() == "WATCHDOG=1")
        #expect(receiver.next() == nil)
    }

    @Test func aReloadMessageCarriesTheMonotonicTime() throws {
        let directory = try TemporaryDirectory()
        let receiver = try DatagramReceiver(directory.file("notify"))
        var before = timespec()
        clock_gettime(CLOCK_MONOTONIC, &before)
        #expect(ServiceNotifier(environment: ["NOTIFY_SOCKET": directory.file("notify")]).sendReloading())
        let lines = try #require(receiver.next()).split(separator: "\n")
        #expect(lines.first == "RELOADING=1")
        let text = try #require(lines.last).dropFirst("MONOTONIC_USEC=".count)
        let start = Int64(before.tv_sec) * 1_000_000 + Int64(before.tv_nsec) / 1000
        #expect(try #require(Int64(text)) >= start)
    }

    @Test func anAbstractNotifySocketIsUsed() throws {
        let name = "@xferd-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let receiver = try DatagramReceiver(name)
        #expect(ServiceNotifier(environment: ["NOTIFY_SOCKET": name]).send(.ready))
        #expect(receiver.next() == "READY=1")
    }

    @Test func withoutAUsableNotifySocketNothingIsSent() throws {
        #expect(!ServiceNotifier(environment: [:]).send(.ready))
        let strange = ["", "@", "/", "relative", "vsock:2:1", "/" + String(repeating: "x", count: 107)]
        for name in strange { #expect(!ServiceNotifier(environment: ["NOTIFY_SOCKET": name]).isEnabled, "\(name)") }
        let directory = try TemporaryDirectory()
        #expect(!ServiceNotifier(environment: ["NOTIFY_SOCKET": directory.file("nobody")]).send(.ready))
    }
}
