import NIOConcurrencyHelpers
import XferClient
import XferCore
import XferDaemon
import XferModel
import XferSystem

/// The sleep of the agent: an idle one wakes up for its beats and for notifications.
extension NodeAgent {
    /// The conditions that a thread of the database's watches.
    struct Watched: Hashable, Sendable {
        let registration: FleetRegistration
        let isClaiming: Bool
    }

    // MARK: Sleeping

    /// Waits for the next round.
    ///
    /// A healthy node sleeps until a signal: the database's threads send the next beat, and check for work when another
    /// agent announces some. Otherwise a round follows after the interval.
    ///
    /// - Returns: true if there may be work other than a beat.
    func rest() async -> Bool {
        guard let registration, let lastBeatAt = beats.lastBeatAt, isAtEase else {
            endWatch()
            await wakeSignal.wait(atMost: configuration.interval)
            return true
        }
        watch(registration)
        let now = Clocks.monotonic()
        let left = max(.zero, rules.beatInterval - lastBeatAt.duration(to: now))
        let dueAt = now.advanced(by: left)
        let isBeating = beats.mayBeat(at: dueAt, isFree: isFree)
        if isBeating {
            database.nodes.beat(registration, after: left) { [answered = beats.answered, wakeSignal] answer in
                answered.withLockedValue {
                    $0 = NodeBeats.AnsweredBeat(of: registration, sentAt: dueAt, answer: answer)
                }
                wakeSignal.nudge()
            }
        }
        let isRung = await wakeSignal.wait(atMost: isBeating ? nil : configuration.interval)
        database.nodes.cancelBeat()
        if isRung { endWatch() }
        return isRung
    }

    private func watch(_ registration: FleetRegistration) {
        let want = work.want
        let watched = Watched(registration: registration, isClaiming: want > 0)
        guard self.watched != watched else { return }
        self.watched = watched
        database.nodes.watch(registration, isClaiming: want > 0, every: configuration.interval) { [wakeSignal] in
            wakeSignal.ring()
        }
    }

    private func endWatch() {
        guard watched != nil else { return }
        watched = nil
        database.nodes.endWatch()
    }

    /// True if nothing waits for another attempt.
    private var isAtEase: Bool {
        nodeStatus.withLockedValue { $0.databaseProblem == nil && $0.daemonProblem == nil }
            && events.isConnected && work.isSettled
    }
}
