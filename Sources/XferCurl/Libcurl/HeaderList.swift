import CCurl
import XferModel

/// Header fields as libcurl takes them: a linked list of `Name: value` lines that has to outlive the request.
final class HeaderList {
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    /// Throws for text that would end a line early; clients' fields are checked long before.
    ///
    /// - Parameter isSigned: libcurl 7.88 signs every line as it stands, so that none may have another meaning.
    init(_ fields: [HeaderField], isSigned: Bool = false) throws(TransferError) {
        for field in fields {
            guard Self.isClean(field.name), !field.name.isEmpty, Self.isClean(field.value) else {
                curl_slist_free_all(first)
                first = nil
                throw TransferError(.internalError, "a header field contains a line break or NUL, or has no name")
            }
            if isSigned, field.value.isEmpty { continue }
            // A field without a value is written with a semicolon (CURLOPT_HTTPHEADER(3)).
            append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        // libcurl would wait for a 100 before larger bodies.
        if !isSigned { append("Expect:") }
    }

    deinit { curl_slist_free_all(first) }

    private func append(_ line: String) {
        // Only fails without memory, and then leaves the list as it was.
        if let longer = curl_slist_append(first, line) { first = longer }
    }

    private static func isClean(_ text: String) -> Bool {
        !text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    }
}
