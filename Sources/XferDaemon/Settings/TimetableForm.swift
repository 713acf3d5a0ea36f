import XferModel

extension SettingForm where Value == BandwidthSchedule {
    /// A list of times of day with what holds from then on; one alone is a list of one.
    static let timetable = SettingForm(expected: "a list of \(BandwidthSchedule.expected)", isScalar: false) {
        node, _ throws(SettingMismatch) in
        if node.isNull { return BandwidthSchedule() }
        let items: [ConfigurationNode] = if case .sequence(let items) = node.content { items } else { [node] }
        var entries: [BandwidthSchedule.Entry] = []
        for item in items {
            guard let entry = item.text.flatMap({ BandwidthSchedule.Entry($0) }) else {
                throw SettingMismatch(expected: BandwidthSchedule.expected, found: item)
            }
            entries.append(entry)
        }
        do throws(BandwidthSchedule.Fault) {
            return try BandwidthSchedule(entries)
        } catch {
            throw SettingMismatch(error.description, at: error.index.map { items[$0] } ?? node)
        }
    } write: { timetable in
        "[" + timetable.entries.map { YAMLText.quoted($0.description) }.joined(separator: ", ") + "]"
    }
}
