import XferModel

/// Numbers of bytes for people.
enum SizeText {
    /// `8.0 MiB`; less than a KiB exactly.
    static func text(_ bytes: Int64) -> String {
        var (tenths, unit) = (max(0, bytes).multipliedSaturated(by: 10), 0)
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        while tenths >= 10_240, unit < units.count - 1 { (tenths, unit) = (tenths / 1024, unit + 1) }
        return unit == 0 ? "\(tenths / 10) bytes" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
