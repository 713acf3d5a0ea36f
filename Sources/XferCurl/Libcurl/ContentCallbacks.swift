import CCurl

// Functions that libcurl calls on the loop's thread, as in CurlCallbacks.

/// CURLOPT_READFUNCTION: the next bytes of a content.
func curlContentCallback(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let hop = hop(context), case .single(let reader) = hop.content else {
        return Int(CURL_READFUNC_ABORT)
    }
    return hop.onContentWanted(from: reader, UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
}

/// CURLOPT_SEEKFUNCTION: changes the position in a content, so that libcurl can send it again.
func curlContentSeekCallback(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard let hop = hop(context), case .single(let reader) = hop.content else {
        return CURL_SEEKFUNC_FAIL
    }
    return seek(reader, offset, origin)
}

/// curl_mime_data_cb(3): the next bytes of a part. The context is the part's reader, which the form keeps alive.
func curlPartCallback(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return Int(CURL_READFUNC_ABORT) }
    let reader = Unmanaged<ContentReader>.fromOpaque(context).takeUnretainedValue()
    guard let hop = reader.hop else { return Int(CURL_READFUNC_ABORT) }
    return hop.onContentWanted(from: reader, UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
}

/// curl_mime_data_cb(3): changes the position in a part, so that libcurl can send it again.
func curlPartSeekCallback(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard let context else { return CURL_SEEKFUNC_FAIL }
    return seek(Unmanaged<ContentReader>.fromOpaque(context).takeUnretainedValue(), offset, origin)
}

private func seek(_ reader: ContentReader, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    origin == SEEK_SET && reader.seek(to: Int64(clamping: offset)) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}
