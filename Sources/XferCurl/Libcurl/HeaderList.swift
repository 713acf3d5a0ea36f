import CCurl
import XferModel

/// Header fields as libcurl takes them: a linked list of `Name: value` lines that has to outlive the request.
final class HeaderList {
    private(set) var first: UnsafeMutablePointer<curl_slist>?
    /// `User-Agent` of a signed request, which is not among the lines. Proxies may change it, so signers leave it out,
    /// and some servers (botocore's signer, which moto checks with) leave it out of what they compute even where it was
    /// signed.
    private(set) var unsignedUserAgent: String?

    /// Throws for text that would end a line early; clients' fields are checked long before.
    ///
    /// `addingDefaults` removes libcurl's own fields from a request: `Expect` above all, unless `expectsContinue`. With
    /// `Expect` libcurl holds content back for up to a second if the server does not answer 100, which is too long for
    /// a small one (see `ContinueMemory`). Without it an early refusal is still noticed: the response is read while
    /// content is sent, and ends the sending.
    ///
    /// `isSigned`: libcurl 7.88 signs every line as it stands, so none may need another interpretation.
    init(_ fields: [HeaderField], addingDefaults: Bool = true, isSigned: Bool = false, expectsContinue: Bool = false)
        throws(TransferError)
    {
        for field in fields {
            guard Self.isClean(field.name), !field.name.isEmpty, Self.isClean(field.value) else {
                curl_slist_free_all(first)
                first = nil
                throw TransferError(.internalError, "a header field contains a line break or NUL, or has no name")
            }
            if isSigned, field.value.isEmpty { continue }
            if isSigned, field.name.equalsIgnoringASCIICase("User-Agent") {
                unsignedUserAgent = field.value
                continue
            }
            // A field without a value is written with a semicolon (CURLOPT_HTTPHEADER(3)).
            // Servers sign runs of spaces as one.
            let value =
                isSigned ? field.value.split { $0 == " " || $0 == "\t" }.joined(separator: " ") : field.value
            append(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)")
        }
        guard addingDefaults, !isSigned else { return }
        // Where it is wanted libcurl adds it by itself, over HTTP/1.1.
        if !expectsContinue { append("Expect:") }
        if fields.firstValue(named: "Accept-Encoding") == nil { append("Accept-Encoding:") }
    }

    /// The list, which the caller has to free; this one is empty then.
    func release() -> UnsafeMutablePointer<curl_slist>? {
        defer { first = nil }
        return first
    }

    deinit { curl_slist_free_all(first) }

    private func append(_ line: String) {
        // Only fails without memory, and then leaves the list as it was.
        if let longer = curl_slist_append(first, line) { first = longer }
    }

    static func isClean(_ text: String) -> Bool {
        !text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    }
}
