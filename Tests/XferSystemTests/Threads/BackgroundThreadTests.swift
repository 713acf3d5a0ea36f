import Dispatch
import Foundation
import Glibc
import Testing
import XferSystem

struct BackgroundThreadTests {
    private func onThread<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do throws(ThreadError) {
                try BackgroundThread.start(name) { continuation.resume(returning: body()) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    @Test(arguments: [("xfer-trial", "xfer-trial"), ("xfer-much-too-long", "xfer-much-too-l")])
    func theNameOfAThreadIsVisibleToTheKernel(name: String, seen: String) async throws {
        let found = try await onThread(name) {
            (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8))?.dropLast()
        }
        #expect(found.map(String.init) == seen)
    }

    @Test func aBackgroundThreadReceivesNoSignalsButItsOwnFaults() async throws {
        let blocked = try await onThread("xfer-trial") {
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            return (1..<32).filter { sigismember(&mask, $0) == 1 }
        }
        // SIGKILL and SIGSTOP cannot be blocked (sigprocmask(2)).
        let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP]
        #expect(blocked == (1..<32).filter { !(faults + [SIGKILL, SIGSTOP]).contains($0) })
    }

    @Test func startingAThreadKeepsTheCallersSignalMask() async throws {
        let masks = try await onThread("xfer-trial") {
            var wanted = sigset_t()
            sigemptyset(&wanted)
            sigaddset(&wanted, SIGUSR1)
            pthread_sigmask(SIG_SETMASK, &wanted, nil)
            try? BackgroundThread.start("xfer-trial") {}
            var after = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &after)
            return (1..<32).filter { sigismember(&after, $0) == 1 }
        }
        #expect(masks == [SIGUSR1])
    }

    @Test func aThreadLocalValueIsVisibleOnlyToItsThread() async throws {
        final class Mark: Sendable {}
        let local = ThreadLocal<Mark>()
        let mark = Mark()
        local.current = mark
        #expect(local.current === mark)
        #expect(try await onThread("xfer-trial") { local.current == nil })
        local.current = nil
        #expect(local.current == nil)
    }

    @Test func aLockAdmitsOneThreadAtATimeAndEveryWaiterProceeds() async throws {
        final class Shared: @unchecked Sendable {
            // Sendable: only touched while `changed` is locked.
            var count = 0
            var hasBegun = false
        }
        let changed = ThreadCondition()
        let shared = Shared()
        let locked = Locked(0)
        let ended = DispatchGroup()
        for _ in 0..<4 {
            ended.enter()
            try BackgroundThread.start("xfer-trial") {
                changed.lock()
                while !shared.hasBegun { changed.wait() }
                changed.unlock()
                for _ in 0..<1000 {
                    changed.lock()
                    shared.count += 1
                    changed.unlock()
                    locked.withLock { $0 += 1 }
                }
                ended.leave()
            }
        }
        changed.lock()
        shared.hasBegun = true
        changed.unlock()
        changed.broadcast()
        await withCheckedContinuation { done in ended.notify(queue: .global()) { done.resume() } }
        #expect(shared.count == 4000)
        #expect(locked.withLock(\.self) == 4000)
    }
}
