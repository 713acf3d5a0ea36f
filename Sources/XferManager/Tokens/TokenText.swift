package import XferFiles
import XferModel

/// The text of a token: a prefix by which scanners for leaked secrets recognise it, and 256 random bits in hexadecimal.
package enum TokenText {
    static let prefix = "xfer_"
    /// The number of characters after the prefix.
    private static let digits = 64

    package static func random() -> String { prefix + RandomText.secret() }

    /// True if `text` has the form of a token. Other texts are refused without computing their digest.
    static func isPlausible(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(prefix.utf8.count)
        return text.hasPrefix(prefix) && digits.count == Self.digits
            && digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// Returns the SHA-256 of the text. A slow hash would protect guessable passwords, but adds nothing for 256 random
    /// bits.
    package static func digest(_ text: String) throws(FileError) -> [UInt8] {
        var context = try DigestContext(.sha256)
        let bytes = Array(text.utf8)
        bytes.withUnsafeBytes { context.update($0) }
        return try context.finish().bytes
    }
}
