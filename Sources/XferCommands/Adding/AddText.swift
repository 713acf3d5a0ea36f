import XferModel
import XferProtocol

/// The text about added tasks.
enum AddText {
    /// The line about an added task.
    ///
    /// - Parameter place: the sanitised directory of its file, if it is to be shown.
    static func lines(_ one: TaskAdd.One, in place: String? = nil, style: Style) -> [String] {
        let glance = TaskSummary(one.task)
        let state = style(StateStyle.attribute(glance.state), SafeText.sanitised(glance.state))
        let exists = one.existing == true ? " (it existed already)" : ""
        let failure = glance.state == TaskState.failed.rawValue ? glance.failure : nil
        let cause = failure.map { ": \(FailureText.cause($0))" } ?? ""
        let directory = place.map { " in \($0)" } ?? ""
        return ["#\(glance.id) \(state): \(SafeText.sanitised(glance.name))\(directory)\(cause)\(exists)"]
    }

    /// Returns the lines about added tasks: a few are listed, many are summed up.
    static func lines(_ many: TaskAdd.Many, batch: ArraySlice<NewTask>) -> [String] {
        let existing = Set(many.existing)
        guard many.ids.count > 20 else {
            return zip(many.ids, batch).enumerated().map { index, pair in
                let exists = existing.contains(index) ? " (it existed already)" : ""
                return "#\(pair.0) \(SafeText.sanitised(Redaction.url(pair.1.firstURL)))\(exists)"
            }
        }
        let range = "#\(many.ids.min()?.description ?? "") to #\(many.ids.max()?.description ?? "")"
        let exists = existing.isEmpty ? "" : ", \(existing.count) of them existed already"
        return ["\(many.ids.count) tasks: \(range)\(exists)"]
    }
}
