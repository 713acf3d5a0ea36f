import XferModel
import XferStore

/// An accepted task: the task's row, and what it sends.
struct AdmittedTask: Sendable {
    var insertion: TaskInsertion
    let retriesFailed: Bool
    /// The URL as events show it.
    let shownURL: String
    /// Whether adding it depends on nothing in the database, including earlier tasks of the same call. Then it can be
    /// inserted together with others.
    let isIndependent: Bool
    /// The prefix of field names in errors.
    let path: String

    var specification: TaskSpecification { _read { yield insertion.specification } }
}

extension [AdmittedTask] {
    /// The tasks that are added together, in order: either independent ones, limited to save memory, or a single one.
    var runs: [Range<Int>] {
        var runs: [Range<Int>] = []
        var isOpen = false
        for index in indices {
            let isIndependent = self[index].isIndependent
            if isOpen, isIndependent, let last = runs.last, last.count < 100 {
                runs[runs.count - 1] = last.lowerBound..<index + 1
            } else {
                runs.append(index..<index + 1)
            }
            isOpen = isIndependent
        }
        return runs
    }
}
