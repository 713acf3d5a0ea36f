/// Sizes and rates for people, in powers of 1024 with their IEC names: `1.2 GiB`, `640 KiB/s`.
public enum ByteText {
    /// Powers of 1024, or of 1000 next to a limit that was given in those.
    public enum Units: Sendable {
        case binary, decimal

        var names: [String] {
            switch self {
            case .binary: ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
            case .decimal: ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
            }
        }

        var step: Double { self == .binary ? 1024 : 1000 }
    }

    /// Writes a size with at most four characters before the unit: from 1 KiB on, one decimal for a value below 10,
    /// none otherwise.
    public static func size(_ bytes: Int64, in system: Units = .binary) -> String {
        let units = system.names
        var value = Double(max(0, bytes))
        var unit = 0
        while unit + 1 < units.count, value.rounded() >= (unit == 0 ? system.step : system.step - 0.5) {
            value /= system.step
            unit += 1
        }
        if unit == 0 { return "\(Int64(saturating: value)) B" }
        let tenths = (value * 10).rounded()
        let number =
            tenths < 100
            ? "\(Int64(saturating: tenths) / 10).\(Int64(saturating: tenths) % 10)"
            : "\(Int64(saturating: value.rounded()))"
        return "\(number) \(units[unit])"
    }

    public static func rate(_ bytesPerSecond: Int64, in system: Units = .binary) -> String {
        size(bytesPerSecond, in: system) + "/s"
    }

    /// A limit, where 0 means none: exactly, and in the unit in which it most probably was given.
    public static func limit(_ bytesPerSecond: Int64) -> String {
        bytesPerSecond == 0 ? "unlimited" : exact(bytesPerSecond) + "/s"
    }

    /// The units in which a limit was given; binary ones without a limit.
    public static func units(of limit: Int64?) -> Units {
        guard let limit, limit >= 1000 else { return .binary }
        return exact(limit).hasSuffix("iB") ? .binary : .decimal
    }

    /// The shortest exact text for the number: `500 kB` of 500,000, `1.5 MiB` of 1,572,864.
    private static func exact(_ bytes: Int64) -> String {
        let texts = [Units.decimal, .binary].flatMap { system -> [String] in
            var factor: Int64 = 1
            return system.names.compactMap { name in
                defer { factor = factor.multipliedSaturated(by: Int64(saturating: system.step)) }
                guard bytes >= factor, let number = thousandths(bytes, of: factor) else { return nil }
                return "\(number) \(name)"
            }
        }
        return texts.min { $0.utf8.count < $1.utf8.count } ?? "\(bytes) B"
    }

    /// The quotient if three decimals are exact.
    private static func thousandths(_ bytes: Int64, of unit: Int64) -> String? {
        let rest = bytes % unit
        let (scaled, overflow) = rest.multipliedReportingOverflow(by: 1000)
        guard !overflow, scaled % unit == 0 else { return nil }
        var decimals = "\(1000 + scaled / unit)".dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return "\(bytes / unit)" + (decimals.isEmpty ? "" : ".\(decimals)")
    }
}
