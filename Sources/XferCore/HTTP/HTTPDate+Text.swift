public import XferModel

extension HTTPDate {
    /// The time as `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 §5.6.7), fractions dropped.
    public static func text(_ time: Timestamp) -> String {
        let seconds = time.rawValue / 1_000_000 - (time.rawValue % 1_000_000 < 0 ? 1 : 0)
        let secondOfDay = ((seconds % 86_400) + 86_400) % 86_400
        let day = (seconds - secondOfDay) / 86_400
        let date = CivilDate(daysSinceEpoch: day)
        func pad(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(((day % 7) + 7) % 7)]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(weekday), \(pad(date.day)) \(months[Int(date.month) - 1]) \(date.year) "
            + "\(pad(secondOfDay / 3600)):\(pad(secondOfDay / 60 % 60)):\(pad(secondOfDay % 60)) GMT"
    }
}
