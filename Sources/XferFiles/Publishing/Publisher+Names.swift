import Glibc
public import XferModel

extension Publisher {
    public enum NameChoice: Hashable, Sendable {
        /// Publish under this name. `isReplacing` is a parameter of `rename`.
        case publish(as: String, isReplacing: Bool)
        /// The name is taken, and the policy is to keep that file.
        case skip
    }

    /// Chooses the final name by the present content of the directory. It does not reserve the name: `rename`
    /// determines if it is still free.
    ///
    /// For `rename` it is the first free name of `name`, `name (1)`, …. Past the 32nd it is a free name that follows a
    /// taken one, found by bisection, so that the ten-thousandth file of a name costs no more than the hundredth.
    ///
    /// - Parameters:
    ///   - name: a single name.
    ///   - isReserved: true for a name in this directory under which another task is going to publish.
    /// - Throws: `nameTaken` under `fail`, `isADirectory` and `isSpecial` under those that replace a file, `noFreeName`,
    ///   `invalidName`, `system`.
    public func chooseName(
        for name: String, policy: ConflictPolicy, isReserved: (String) -> Bool = { _ in false }
    ) throws(FileError) -> NameChoice {
        func isTaken(_ name: String) throws(FileError) -> Bool {
            if isReserved(name) { return true }
            return try directory.exists(name)
        }
        switch policy {
        // Whether the file continues the one with the name is decided before: `ContinuedFile`.
        case .rename, .continue: return .publish(as: try freeName(for: name, isTaken), isReplacing: false)
        case .skip: return try isTaken(name) ? .skip : .publish(as: name, isReplacing: false)
        case .fail:
            guard try !isTaken(name) else { throw .nameTaken(path: directory.path(of: name)) }
            return .publish(as: name, isReplacing: false)
        case .overwrite, .update, .verify:
            switch try directory.status(of: name)?.kind {
            case .directory: throw .isADirectory(path: directory.path(of: name))
            case .other: throw .isSpecial(path: directory.path(of: name))
            case .regular, .symbolicLink, nil: return .publish(as: name, isReplacing: true)
            }
        }
    }

    private func freeName(for name: String, _ isTaken: (String) throws(FileError) -> Bool) throws(FileError) -> String {
        let longest = directory.traits.longestName
        func candidate(_ number: Int) -> String {
            number == 0 ? name : FileName.numbered(name, number, longest: longest)
        }
        for number in 0..<32 where try !isTaken(candidate(number)) { return candidate(number) }
        var taken = 31
        var free = 64
        while try isTaken(candidate(free)) {
            (taken, free) = (free, free * 2)
            guard free <= Self.highestNumber else {
                throw .noFreeName(path: directory.path(of: name), tried: taken)
            }
        }
        while free - taken > 1 {
            let middle = (taken + free) / 2
            if try isTaken(candidate(middle)) { taken = middle } else { free = middle }
        }
        return candidate(free)
    }

    private static var highestNumber: Int { 1 << 24 }
}
