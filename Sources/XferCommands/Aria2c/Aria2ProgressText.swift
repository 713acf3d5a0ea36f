import XferAria2
import XferModel
import XferProtocol

/// Lines about downloads, close to those of aria2c.
enum Aria2ProgressText {
    /// `[#17 1.2MiB/8.0MiB(15%) DL:500KiB ETA:13s]`, the first three downloads.
    static func line(_ tasks: [TaskRecord]) -> String {
        let open = tasks.filter { !Aria2State($0.state?.value).isStopped }
        return open.prefix(3).map { task in
            let progress = task.progress ?? ProgressRecord(received: 0, total: nil)
            var text = "[#\(task.id) \(bytes(progress.received))"
            if let total = progress.total, total > 0 {
                let percent = min(100, max(0, Double(progress.received) / Double(total) * 100))
                text += "/\(bytes(total))(\(whole(percent))%)"
            }
            if progress.rate > 0 { text += " DL:\(bytes(progress.rate))" }
            if let eta = progress.eta { text += " ETA:\(eta)s" }
            return text + "]"
        }.joined(separator: "")
    }

    static func result(_ task: TaskRecord) -> String {
        let state = Aria2State(task.state?.value) == .complete ? "OK" : "ERR"
        return "#\(task.id) (\(state)): \(SafeText.sanitised(task.finalPath ?? task.output ?? task.url ?? ""))"
    }

    static func bytes(_ count: Int64) -> String {
        var value = Double(max(0, count))
        for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
            if value < 1024 {
                let tenths = whole(value * 10)
                return unit == "B" || tenths >= 1000 ? "\(tenths / 10)\(unit)" : "\(tenths / 10).\(tenths % 10)\(unit)"
            }
            value /= 1024
        }
        return "\(whole(value))PiB"
    }

    /// The part before the point.
    private static func whole(_ value: Double) -> Int64 { Int64(exactly: value.rounded(.down)) ?? 0 }
}
