import CCurl
import XferModel

/// Lines in the form that libcurl expects. They have to outlive the request.
final class LineList {
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    /// - Parameter lines: the lines; they must not contain NUL.
    init(_ lines: [String]) {
        for line in lines {
            // Only fails without memory, and then leaves the list as it was.
            if let longer = curl_slist_append(first, line) { first = longer }
        }
    }

    deinit { curl_slist_free_all(first) }
}

/// Header fields in libcurl's form: a linked list of `Name: value` lines. The list has to outlive the request.
final class HeaderList {
    private(set) var first: UnsafeMutablePointer<curl_slist>?
    /// The `User-Agent` of a signed request. It is not among the lines, because libcurl would sign it. Proxies may
    /// change this field, so signers leave it out. Some servers never include it in their computation (moto, which uses
    /// botocore's signer), so a signature over it would not match.
    private(set) var unsignedUserAgent: String?

    /// Makes the list. Throws for a name or value that would end a line early; fields from clients were checked before.
    ///
    /// `addingDefaults` adds lines that stop libcurl from sending fields of its own: `Accept-Encoding`, and `Expect`
    /// unless `expectsContinue` is true. With `Expect`, libcurl waits up to a second for a 100 (Continue) before it
    /// sends the content, which is too long for small content (see `ContinueMemory`). An early refusal is noticed
    /// without `Expect`, too: libcurl reads the response while it sends, and then stops sending.
    ///
    /// `isSigned` makes the lines fit for libcurl 7.88, which signs every line unchanged. Fields without a value are
    /// left out, and no defaults are added.
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
            // A field without a value is written with a semicolon (CURLOPT_HTTPHEADER(3)). For the signature, servers
            // replace each run of white space by one space.
            let value =
                isSigned ? field.value.split { $0 == " " || $0 == "\t" }.joined(separator: " ") : field.value
            append(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)")
        }
        guard addingDefaults, !isSigned else { return }
        // If `Expect` is wanted, libcurl adds it by itself over HTTP/1.1.
        if !expectsContinue { append("Expect:") }
        if fields.firstValue(named: "Accept-Encoding") == nil { append("Accept-Encoding:") }
    }

    /// Returns the linked list and empties this object. The caller has to free the list.
    func release() -> UnsafeMutablePointer<curl_slist>? {
        defer { first = nil }
        return first
    }

    deinit { curl_slist_free_all(first) }

    private func append(_ line: String) {
        // `curl_slist_append` fails only without memory, and then leaves the list unchanged.
        if let longer = curl_slist_append(first, line) { first = longer }
    }

    static func isClean(_ text: String) -> Bool {
        !text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    }
}
