public import XferModel

/// A part of a download that is fetched by itself.
public struct SegmentRecord: WireRecord, Hashable {
    public var start: Int64 = 0
    public var end: Int64?
    public var committed: Int64 = 0

    public init() {}

    public init(_ segment: Segment) {
        start = segment.start
        end = segment.end
        committed = segment.committed
    }

    public static let summary = "A range of a download's bytes and how far it is durable."
    public static let wireFields: WireFields<Self> = [
        .required("start", \.start, "Its first byte's offset."),
        .nullable("end", \.end, "The first offset after it; null is the end of the whole."),
        .required("committed", \.committed, "The first offset that is not durable."),
    ]
}
