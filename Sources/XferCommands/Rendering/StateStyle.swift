import XferModel

/// The colour of a state: green is done, red needs the user, yellow goes on by itself later.
enum StateStyle {
    static func attribute(_ state: String) -> Style.Attribute? {
        switch TaskState(rawValue: state) {
        case .running: .cyan
        case .completed: .green
        case .failed: .red
        case .waiting: .yellow
        case .paused, .staged: .magenta
        case .cancelled: .dim
        case .queued, nil: nil
        }
    }
}
