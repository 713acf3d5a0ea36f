import Testing
import XferTestSupport

extension DaemonFixture {
    /// Memory in use (proc(5), VmRSS).
    var residentKibibytes: Int { get throws { try memory("VmRSS:") } }

    /// The most that was ever in use (VmHWM).
    var peakResidentKibibytes: Int { get throws { try memory("VmHWM:") } }

    private func memory(_ name: String) throws -> Int {
        let process = try #require(process)
        let status = try FileTree.text("/proc/\(process.pid)/status")
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return try #require(Int(line.filter(\.isNumber)))
    }
}
