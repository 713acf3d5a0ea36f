import CCurl
import Glibc
import XferModel

/// Reads the response that a server sent before it reset the connection.
///
/// A server that refuses content without reading it resets the connection after its answer (RFC 9112 §9.6). Linux keeps
/// the data that arrived before a reset until it is read, but libcurl closes the socket as soon as sending fails. A
/// second descriptor keeps the data readable. Over TLS that is not possible, since libcurl has ended the TLS session by
/// then.
extension Hop {
    private static let most = 320 << 10

    /// Keeps the socket, since content is about to be sent.
    func keepSocket() {
        guard link.spare == nil, url.scheme == .http, !link.hasSecureProxy, let socket = handle?.socket else { return }
        link.spare = SpareSocket(of: socket)
    }

    /// True if only a part of the content was sent.
    var isSendingCutShort: Bool {
        guard let content, let handle else { return false }
        guard let total = content.length ?? handle.contentLength else { return true }
        return handle.contentSent < total
    }

    /// Processes the answer that libcurl did not read; does nothing when the head is incomplete.
    func readEarlyResponse(after code: CURLcode) {
        guard [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING].contains(code), let spare = link.spare else {
            return
        }
        var rest = spare.unread(upTo: Self.most)[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest[...end]
            rest = rest[rest.index(after: end)...]
            guard line.withUnsafeBytes({ onHeaderLine($0) }) else { return }
            guard hasAnswer else { continue }
            // Only libcurl decodes transfer and content codings; a coded answer is used without its content.
            if hasPlainBody, !rest.isEmpty { _ = rest.withUnsafeBytes { onBody($0) } }
            return
        }
    }
}

/// A second descriptor of a socket.
final class SpareSocket {
    private let descriptor: Int32

    init?(of socket: Int32) {
        descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Returns received bytes that were not read, without waiting.
    func unread(upTo most: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < most {
            let room = most - bytes.count
            let chunk = [UInt8](unsafeUninitializedCapacity: min(room, 16 << 10)) { buffer, count in
                count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)))
            }
            // The first call may only return the error of the failed send.
            if chunk.isEmpty { break }
            bytes += chunk
        }
        return bytes
    }
}
