import Glibc
import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferTestSupport

@testable import XferManager

/// The misfortunes of one service, drawn from a seed. A service that has died does nothing any more.
final class Misfortune: Sendable {
    private struct State {
        var random: SplitMix64
        var isOn = true
        var isDead = false
        var log: [String] = []
    }

    private let state: NIOLockedValueBox<State>

    init(seed: UInt64) { state = NIOLockedValueBox(State(random: SplitMix64(seed: seed))) }

    /// False while nothing fails and nothing dies.
    var isOn: Bool {
        get { state.withLockedValue(\.isOn) }
        set { state.withLockedValue { $0.isOn = newValue } }
    }

    var isDead: Bool { state.withLockedValue(\.isDead) }

    var log: [String] { state.withLockedValue(\.log) }

    func note(_ line: String) { state.withLockedValue { $0.log.append(line) } }

    /// A new service begins.
    func revive() { state.withLockedValue { $0.isDead = false } }

    /// True with this probability, while misfortunes are on.
    func strikes(_ probability: Double) -> Bool {
        state.withLockedValue { state in state.isOn && state.random.chance(probability) }
    }

    /// True if the service has died, or dies now.
    func kills() -> Bool {
        state.withLockedValue { state in
            if !state.isDead, state.isOn, state.random.chance(0.02) {
                state.isDead = true
                state.log.append("killed")
            }
            return state.isDead
        }
    }

    func pick<Element>(_ elements: [Element]) -> Element {
        state.withLockedValue { state in elements[Int.random(in: elements.indices, using: &state.random)] }
    }

    func number(in range: ClosedRange<Int>) -> Int {
        state.withLockedValue { state in Int.random(in: range, using: &state.random) }
    }
}

/// The operations in a real directory. Each may fail, with or without its effect, and the service may be killed before
/// and after each.
struct FaultyOperations: PublishingOperations {
    let directory: DirectoryHandle
    let misfortune: Misfortune
    /// Another program is about to act: called before a name is given.
    let meddle: @Sendable () -> Void
    private let real: PublishingDirectory

    init(_ directory: DirectoryHandle, _ misfortune: Misfortune, meddle: @escaping @Sendable () -> Void) {
        self.directory = directory
        self.misfortune = misfortune
        self.meddle = meddle
        real = PublishingDirectory(directory)
    }

    /// - Parameter mayLie: true if an error does not mean that nothing has happened.
    private func perform<Value>(
        _ operation: String, mayLie: Bool = false, _ body: () throws(FileError) -> Value
    ) throws(FileError) -> Value {
        guard !misfortune.kills() else { throw .cancelled }
        if misfortune.strikes(0.05) { throw failure(of: operation, "did nothing") }
        let value = try body()
        guard !misfortune.kills() else { throw .cancelled }
        if mayLie, misfortune.strikes(0.05) { throw failure(of: operation, "took effect") }
        return value
    }

    private func failure(of operation: String, _ effect: String) -> FileError {
        misfortune.note("\(operation) fails and \(effect)")
        return .system(operation: operation, path: directory.path, code: EIO)
    }

    func prepare(_ parts: [(part: PartialFile, attributes: Publisher.Attributes)]) -> [FileError?] {
        do throws(FileError) {
            return try perform("prepare") { () throws(FileError) in real.prepare(parts) }
        } catch {
            return parts.map { _ in error }
        }
    }

    func facts(of file: PublishingFile) throws(FileError) -> FileFacts {
        try perform("stat") { () throws(FileError) in try real.facts(of: file) }
    }

    func chooseName(
        for file: PublishingFile, isReserved: (String) -> Bool
    ) throws(FileError) -> Publisher.NameChoice {
        try perform("choose") { () throws(FileError) in try real.chooseName(for: file, isReserved: isReserved) }
    }

    func rename(
        _ file: PublishingFile, as intent: PublishIntent, isReplacing: Bool
    ) throws(FileError) -> Publisher.RenameOutcome {
        if !misfortune.isDead { meddle() }
        // An unnamed file lies on a disk of this machine, whose errors are true.
        return try perform("rename", mayLie: file.part != nil) { () throws(FileError) in
            try real.rename(file, as: intent, isReplacing: isReplacing)
        }
    }

    func sync(_ unnamed: [UnnamedFile]) throws(FileError) {
        try perform("sync", mayLie: true) { () throws(FileError) in try real.sync(unnamed) }
    }

    func confirm(_ file: PublishingFile, under intent: PublishIntent) throws(FileError) {
        try perform("confirm") { () throws(FileError) in try real.confirm(file, under: intent) }
    }

    func withdraw(_ file: PublishingFile, _ intent: PublishIntent) throws(FileError) {
        try perform("withdraw", mayLie: true) { () throws(FileError) in try real.withdraw(file, intent) }
    }
}
