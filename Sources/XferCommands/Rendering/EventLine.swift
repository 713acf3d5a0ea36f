import StrictJSON
import XferModel
import XferProtocol

/// Makes one line of an event: time, sequence number, type, task, and the members of the event's body.
struct EventLine: Sendable {
    let style: Style
    /// Events of other days are shown with their date.
    var now = Timestamp.now

    func line(_ event: EventMessage) -> String {
        let number = event.seq.map { "\($0)" } ?? "-"
        let task = event.taskID.map { "#\($0)" } ?? ""
        let name = TextWidth.padded(SafeText.sanitised(event.type.description), to: 19)
        let fields = [
            TimeText.clock(event.time, now: now), TextWidth.padded(number, to: 6, alignment: .right),
            style(attribute(event), name),
            TextWidth.padded(task, to: 6), details(event),
        ]
        return String(fields.joined(separator: " ").trimmingBlanks)
    }

    /// The body's members in their order as `key=value`, nested ones as `outer.inner=value`. `terminal` and `state` are
    /// left out.
    private func details(_ event: EventMessage) -> String {
        event.body.members.filter { !["terminal", "state"].contains($0.key) }
            .flatMap { Self.pairs($0.key, $0.value) }.joined(separator: " ")
    }

    private static func pairs(_ key: String, _ value: JSONValue) -> [String] {
        if case .object(let object) = value { return object.members.flatMap { pairs("\(key).\($0.key)", $0.value) } }
        let text = value.stringValue.map(TimeText.readable).map { $0.contains(" ") ? "\"\($0)\"" : $0 } ?? value.text
        return [SafeText.sanitised("\(key)=\(text)")]
    }

    private func attribute(_ event: EventMessage) -> Style.Attribute? {
        switch event.type {
        case .known(.durable(.taskCompleted)): .green
        case .known(.durable(.taskFailed)): .red
        case .known(.durable(.taskWaiting)): .yellow
        case .known(.durable(.taskStarted)): .cyan
        default: nil
        }
    }
}
