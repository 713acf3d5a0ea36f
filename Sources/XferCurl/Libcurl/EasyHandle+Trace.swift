import CCurl
import XferCore
import XferModel

/// libcurl's measurements of a request (CURLINFO_*_TIME_T).
extension EasyHandle {
    /// The address of the connection's other end, as text; nil while there is no connection.
    var address: String? {
        var text: UnsafeMutableRawPointer?
        guard xfer_easy_get_pointer(easy, CURLINFO_PRIMARY_IP, &text) == CURLE_OK, let text else { return nil }
        let address = String(cString: text.assumingMemoryBound(to: CChar.self))
        return address.isEmpty ? nil : address
    }

    fileprivate func port(_ info: CURLINFO) -> UInt16? {
        var port = 0
        guard xfer_easy_get_long(easy, info, &port) == CURLE_OK, port > 0 else { return nil }
        return UInt16(clamping: port)
    }

    /// Microseconds from the request's beginning; nil if the step was not reached, or not needed.
    fileprivate func time(_ info: CURLINFO) -> Int64? {
        var value: curl_off_t = 0
        guard xfer_easy_get_offset(easy, info, &value) == CURLE_OK, value > 0 else { return nil }
        return Int64(clamping: value)
    }

    fileprivate var httpVersion: String? {
        var version = 0
        guard xfer_easy_get_long(easy, CURLINFO_HTTP_VERSION, &version) == CURLE_OK else { return nil }
        switch version {
        case Int(CURL_HTTP_VERSION_1_0): return "HTTP/1.0"
        case Int(CURL_HTTP_VERSION_1_1): return "HTTP/1.1"
        case Int(CURL_HTTP_VERSION_2_0): return "HTTP/2"
        default: return nil
        }
    }
}

extension Hop {
    /// The measurements of the request so far.
    func makeTrace(_ handle: EasyHandle?) -> AttemptTrace {
        var trace = AttemptTrace(beganAt: run.beganAt)
        guard let handle else { return trace }
        trace.address = link.addresses.connected?.description ?? handle.address
        if connection?.session.key.spec.key.proxy == nil { trace.addressedHost = url.hostKey }
        trace.port = handle.port(CURLINFO_PRIMARY_PORT)
        trace.localPort = handle.port(CURLINFO_LOCAL_PORT)
        trace.httpVersion = hasAnswer ? handle.httpVersion : nil
        trace.isReused = trace.address != nil && !handle.hasNewConnection
        if !trace.isReused {
            trace.times.nameLookup = handle.time(CURLINFO_NAMELOOKUP_TIME_T)
            trace.times.connect = handle.time(CURLINFO_CONNECT_TIME_T)
            trace.times.tls = handle.time(CURLINFO_APPCONNECT_TIME_T)
        }
        trace.times.firstByte = handle.time(CURLINFO_STARTTRANSFER_TIME_T)
        // libcurl updates it more rarely than the others.
        trace.times.total = handle.time(CURLINFO_TOTAL_TIME_T).map { max($0, trace.times.firstByte ?? 0) }
        return trace
    }
}
