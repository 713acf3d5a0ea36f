import XferTestSupport

/// A directory on a disk that keeps only what was made durable: the content of files that were synced, and the names that
/// were synced with the directory. A power cut keeps a part of the rest.
struct PublishDisk {
    private enum Change { case add(String, Int), remove(String) }

    /// The numbers of the files, by their names as programs see them.
    private(set) var names: [String: Int] = [:]
    /// Whose content a file has: of a task, or (negative) of another program.
    private(set) var owners: [Int: Int] = [:]
    private var durable: [String: Int] = [:]
    private var pending: [[Change]] = []
    private var wholeFiles: Set<Int> = []
    /// Files whose number of names is durable; without a journal a check of the disk deletes the others.
    private var countedFiles: Set<Int> = []
    private var lastFile = 0
    /// False if a power cut may keep any of the changes of names, torn and in any order.
    let hasJournal: Bool

    init(hasJournal: Bool) { self.hasJournal = hasJournal }

    // MARK: Calls

    mutating func makeFile(of owner: Int, named name: String? = nil) -> Int {
        lastFile += 1
        owners[lastFile] = owner
        if let name {
            change([.add(name, lastFile)])
            countedFiles.insert(lastFile)
        }
        return lastFile
    }

    mutating func sync(_ file: Int) {
        wholeFiles.insert(file)
        if names.values.contains(file) { countedFiles.insert(file) }
    }

    /// False if the name is taken.
    mutating func link(_ file: Int, as name: String) -> Bool {
        guard names[name] == nil else { return false }
        change([.add(name, file)])
        return true
    }

    /// False if the new name is taken, and not to be replaced, or the old one is gone.
    mutating func rename(_ old: String, to new: String, isReplacing: Bool) -> Bool {
        guard let file = names[old], isReplacing || names[new] == nil else { return false }
        change([.add(new, file), .remove(old)])
        return true
    }

    mutating func remove(_ name: String) { change([.remove(name)]) }

    mutating func syncDirectory() {
        durable = names
        pending = []
    }

    private mutating func change(_ changes: [Change]) {
        pending.append(changes)
        Self.apply(changes, to: &names)
    }

    private static func apply(_ changes: [Change], to names: inout [String: Int]) {
        for change in changes {
            switch change {
            case .add(let name, let file): names[name] = file
            case .remove(let name): names[name] = nil
            }
        }
    }

    // MARK: Misfortune

    /// A sync that fails: some changes have reached the disk.
    mutating func syncPartly(_ random: inout SplitMix64) {
        let count = Int.random(in: 0...pending.count, using: &random)
        for changes in pending.prefix(count) { Self.apply(changes, to: &durable) }
        pending.removeFirst(count)
    }

    mutating func cutPower(_ random: inout SplitMix64) {
        if hasJournal {
            syncPartly(&random)
        } else {
            for change in pending.joined() where Bool.random(using: &random) { Self.apply([change], to: &durable) }
        }
        pending = []
        durable = durable.filter { hasJournal || countedFiles.contains($0.value) }
        names = durable
        // What was not synced is zeros.
        for file in owners.keys where !wholeFiles.contains(file) { owners[file] = 0 }
    }
}
