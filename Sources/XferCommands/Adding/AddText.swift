import XferModel
import XferProtocol

/// What was added, in words.
enum AddText {
    static func lines(_ one: TaskAdd.One, style: Style) -> [String] {
        let glance = TaskSummary(one.task)
        let state = style(StateStyle.attribute(glance.state), SafeText.sanitised(glance.state))
        let exists = one.existing == true ? " (it was there already)" : ""
        return ["#\(glance.id) \(state): \(SafeText.sanitised(glance.name))\(exists)"]
    }

    /// A few are listed, many are summed up.
    static func lines(_ many: TaskAdd.Many, batch: ArraySlice<NewTask>) -> [String] {
        let existing = Set(many.existing)
        guard many.ids.count > 20 else {
            return zip(many.ids, batch).enumerated().map { index, pair in
                let exists = existing.contains(index) ? " (it was there already)" : ""
                return "#\(pair.0) \(SafeText.sanitised(Redaction.url(pair.1.firstURL)))\(exists)"
            }
        }
        let range = "#\(many.ids.min()?.description ?? "") to #\(many.ids.max()?.description ?? "")"
        let exists = existing.isEmpty ? "" : ", \(existing.count) of them were there already"
        return ["\(many.ids.count) tasks: \(range)\(exists)"]
    }
}
