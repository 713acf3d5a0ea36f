import XferProtocol

extension DaemonSession {
    /// Reports the rows that a list leaves out because they are damaged in the daemon's database.
    ///
    /// - Parameter kind: the beginning of their descriptions in `damaged_rows`: `profile`, `token` or `trust policy`.
    func reportDamaged(_ kind: String, error: Output = .error) {
        guard let status = try? call(DaemonStatus.self).value else { return }
        for row in status.damagedRows ?? [] where row.hasPrefix("\(kind) ") {
            error.line(
                "xferctl: the \(SafeText.sanitised(row)) is damaged in the database: set it again or remove it")
        }
    }
}
