extension DaemonFixture {
    /// Memory the running daemon uses, in KiB (proc(5), VmRSS).
    public var residentKibibytes: Int {
        get throws {
            guard let process else { throw TimedOut("xferd does not run") }
            let status = try FileTree.text("/proc/\(process.pid)/status")
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
            guard let count = Int(line.filter(\.isNumber)) else { throw TimedOut("no VmRSS in \(status)") }
            return count
        }
    }
}
