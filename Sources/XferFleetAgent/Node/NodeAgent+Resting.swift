import NIOConcurrencyHelpers
import XferClient
import XferCore
import XferDaemon
import XferFleet
import XferModel
import XferSystem

/// The sleep of the agent: an idle one wakes up for its beats and for notifications.
extension NodeAgent {
    /// The conditions that a thread of the database's watches.
    struct Watched: Hashable, Sendable {
        let registration: FleetRegistration
        let isClaiming: Bool
    }

    /// The answer to a beat that was sent while the agent slept.
    struct AnsweredBeat: Sendable {
        let of: FleetRegistration
        /// A time not after the sending of the beat.
        let sentAt: MonotonicInstant
        let answer: Result<FleetBeat?, FleetError>
    }

    /// The connection that xferd sends its events on.
    struct EventStreamState: Sendable {
        /// While it lasts, xferd runs and has the same database.
        var isConnected = false
        /// Events have come, or may have been missed, that no round has read.
        var isPending = true
    }

    // MARK: Sleeping

    /// Waits for the next round.
    ///
    /// A node without trouble sleeps until something rings: threads of the database's send the next beat, and look
    /// whether there is something to do when another agent announces it. Else a round follows after the interval.
    ///
    /// - Returns: whether there may be something to do besides a beat.
    func rest() async -> Bool {
        guard let registration, let lastBeatAt, isAtEase else {
            endWatch()
            await wakeSignal.wait(atMost: configuration.interval)
            return true
        }
        watch(registration)
        let now = Clocks.monotonic()
        let left = max(.zero, rules.beatInterval - lastBeatAt.duration(to: now))
        let dueAt = now.advanced(by: left)
        let isBeating = mayBeat(at: dueAt)
        if isBeating {
            database.beat(registration, after: left) { [answeredBeat, wakeSignal] answer in
                answeredBeat.withLockedValue { $0 = AnsweredBeat(of: registration, sentAt: dueAt, answer: answer) }
                wakeSignal.nudge()
            }
        }
        let isRung = await wakeSignal.wait(atMost: isBeating ? nil : configuration.interval)
        database.cancelBeat()
        if isRung { endWatch() }
        return isRung
    }

    private func watch(_ registration: FleetRegistration) {
        let want = ClaimRules.want(
            slots: configuration.fleet.slots, claimed: claimed.count, recentEnds: recentEnds, isDraining: isDraining)
        let watched = Watched(registration: registration, isClaiming: want > 0)
        guard self.watched != watched else { return }
        self.watched = watched
        database.watch(registration, isClaiming: want > 0, every: configuration.interval) { [wakeSignal] in
            wakeSignal.ring()
        }
    }

    func endWatch() {
        guard watched != nil else { return }
        watched = nil
        database.endWatch()
    }

    /// True if nothing waits for another attempt.
    private var isAtEase: Bool {
        nodeStatus.withLockedValue { $0.databaseProblem == nil && $0.daemonProblem == nil }
            && isListening && unadded.isEmpty && staged.isEmpty && outbox.isEmpty
    }

    // MARK: xferd's events

    /// Rings when tasks end, so that free slots are filled at once.
    func listen() async {
        while !Task.isCancelled {
            do {
                let events = try await daemon.client.events(types: LocalDaemon.endings)
                recordEvents(isConnected: true)
                for try await _ in events { recordEvents(isConnected: true) }
            } catch {}
            recordEvents(isConnected: false)
            try? await Task.sleep(for: configuration.interval)
        }
    }

    private nonisolated func recordEvents(isConnected: Bool) {
        eventStream.withLockedValue { $0 = EventStreamState(isConnected: isConnected, isPending: true) }
        wakeSignal.ring()
    }
}
