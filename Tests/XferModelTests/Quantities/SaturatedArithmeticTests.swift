import Testing
import XferModel

@Suite struct SaturatedArithmeticTests {
    @Test func saturatedResultsInRangeAreExact() {
        #expect(Int64(2).addingSaturated(3) == 5 && Int64(2).subtractingSaturated(3) == -1)
        #expect(Int64(-2).multipliedSaturated(by: 3) == -6 && UInt8(5).subtractingSaturated(5) == 0)
        #expect([Int64(1), 2, 3].saturatedSum == 6)
    }

    @Test func saturatedResultsOutOfRangeAreTheNearestBound() {
        #expect(Int64.max.addingSaturated(1) == .max && Int64.min.addingSaturated(-1) == .min)
        #expect(Int64.min.subtractingSaturated(1) == .min && Int64.max.subtractingSaturated(-1) == .max)
        #expect(Int64(0).subtractingSaturated(.min) == .max && Int64(-1).subtractingSaturated(.min) == .max)
        #expect(Int64.max.multipliedSaturated(by: 2) == .max && Int64.max.multipliedSaturated(by: -2) == .min)
        #expect(Int64.min.multipliedSaturated(by: -1) == .max && Int64.min.multipliedSaturated(by: .max) == .min)
        #expect(UInt8.max.addingSaturated(1) == .max && UInt8(0).subtractingSaturated(1) == 0)
        #expect([Int64.max, 1, 1].saturatedSum == .max)
    }

    @Test func everyDoubleHasANearestInteger() {
        #expect(Int64(saturating: .nan) == 0 && Int64(saturating: -0.9) == 0 && Int64(saturating: 2.9) == 2)
        #expect(Int64(saturating: .infinity) == .max && Int64(saturating: -.infinity) == .min)
        #expect(Int64(saturating: 0x1p63) == .max && Int64(saturating: -0x1p63) == .min)
        #expect(Int32(saturating: 1e10) == .max && UInt8(saturating: -1) == 0 && UInt8(saturating: 255.5) == 255)
    }

    @Test func fileTimesStayDistinctBeyondTheRangeOfNanoseconds() {
        let times = [0, 1, 16_725_225_600, -16_725_225_600, 1 << 40, -1 << 40].flatMap { seconds in
            [0, 999_999_999].map { FileTime.nanoseconds(seconds: seconds, nanoseconds: $0) }
        }
        #expect(Set(times).count == times.count)
        #expect(FileTime.nanoseconds(seconds: 1_700_000_000, nanoseconds: 5) == 1_700_000_000_000_000_005)
    }
}
