import Glibc
public import XferModel

extension HTTPDate {
    /// `Sun, 06 Nov 1994 08:49:37 GMT` for seconds since 1970.
    public static func text(_ seconds: Int) -> String { format(Timestamp(seconds: seconds, nanoseconds: 0)) }

    /// The present time.
    public static var now: String { text(time(nil)) }
}
