/// Sizes and rates for people, in powers of 1024 with their IEC names: `1.2 GiB`, `640 KiB/s`.
public enum ByteText {
    private static let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// Writes a size with at most four characters before the unit: from 1 KiB on, one decimal for a value below 10,
    /// none otherwise.
    public static func size(_ bytes: Int64) -> String {
        var value = Double(max(0, bytes))
        var unit = 0
        while unit + 1 < units.count, value.rounded() >= (unit == 0 ? 1024 : 1023.5) {
            value /= 1024
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

    public static func rate(_ bytesPerSecond: Int64) -> String { size(bytesPerSecond) + "/s" }

    /// A limit, where 0 means none.
    public static func limit(_ bytesPerSecond: Int64) -> String {
        bytesPerSecond == 0 ? "unlimited" : rate(bytesPerSecond)
    }
}
