import Glibc
import XferCore
import XferModel

/// Encodes texts with the C library's converters (iconv(3)).
enum CharsetEncoder {
    /// The text in the charset; nil if one of its characters has no form there, or the converter is not installed.
    static let encode: TextEncoding = { text, charset in
        charset == .utf8 ? Array(text.utf8) : convert(Array(text.utf8), to: name(of: charset))
    }

    /// The converter's name. The web's Shift_JIS and EUC-KR are the extended ones of Windows.
    private static func name(of charset: FormCharset) -> String {
        switch charset {
        case .shiftJIS: "CP932"
        case .korean: "UHC"
        default: charset.rawValue
        }
    }

    private static func convert(_ text: [UInt8], to charset: String) -> [UInt8]? {
        guard let converter = iconv_open(charset, "UTF-8"), converter != iconv_t(bitPattern: -1) else { return nil }
        defer { iconv_close(converter) }
        // No charset of the list has more than four bytes for one of UTF-8.
        let (capacity, isTooLarge) = text.count.multipliedReportingOverflow(by: 4)
        guard !isTooLarge else { return nil }
        var input = text.map { CChar(bitPattern: $0) }
        let output = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            count = 0
            let isDone = input.withUnsafeMutableBufferPointer { input in
                var from = input.baseAddress
                var fromLeft = input.count
                return output.withMemoryRebound(to: CChar.self) { output in
                    var to = output.baseAddress
                    var toLeft = output.count
                    // Characters that would be replaced by others are counted; there may be none.
                    let replaced = iconv(converter, &from, &fromLeft, &to, &toLeft)
                    count = output.count - toLeft
                    return replaced == 0 && fromLeft == 0
                }
            }
            if !isDone { count = 0 }
        }
        return output.isEmpty && !text.isEmpty ? nil : output
    }
}
