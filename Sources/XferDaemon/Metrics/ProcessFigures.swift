import Glibc
import XferManager
import XferModel
import XferSystem

/// The process's own use of the machine (proc(5), getrusage(2)).
struct ProcessFigures: Sendable {
    /// The text of `--version`.
    let version: String
    let startedAt: Timestamp

    /// Samples of the available figures; a system without /proc has fewer.
    var samples: [MetricSample] {
        var samples = [
            Metric.info.sample(Int64(1), version),
            Metric.startTime.sample(Double(startedAt.rawValue) / 1_000_000),
            Metric.processorTime.sample(Self.processorTime),
        ]
        if let count = Self.openDescriptors { samples.append(Metric.openDescriptors.sample(count)) }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            samples.append(Metric.maxDescriptors.sample(Int64(clamping: limit.rlim_cur)))
        }
        if let memory = Self.memory {
            samples.append(Metric.virtualMemory.sample(memory.virtual))
            samples.append(Metric.residentMemory.sample(memory.resident))
        }
        return samples
    }

    private static var processorTime: Double {
        var usage = rusage()
        guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static var openDescriptors: Int64? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        // Without ".", ".." and the directory itself.
        var count: Int64 = -3
        while readdir(directory) != nil { count += 1 }
        return max(0, count)
    }

    private static var memory: (virtual: Int64, resident: Int64)? {
        guard let file = fopen("/proc/self/statm", "re") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(clamping: line.count), file) != nil else { return nil }
        let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let pages = String(decoding: bytes, as: UTF8.self).split(separator: " ").map { Int64($0, radix: 10) }
        guard pages.count > 1, let virtual = pages[0], let resident = pages[1] else { return nil }
        let size = Int64(clamping: sysconf(Int32(_SC_PAGESIZE)))
        return (virtual.multipliedSaturated(by: size), resident.multipliedSaturated(by: size))
    }
}
