import CCurl
import Glibc
import XferModel

/// What a server said before it reset the connection.
///
/// A server that refuses a content it does not want to read resets the connection with its answer (RFC 9112 §9.6). Linux keeps
/// what came before a reset until it is read, but libcurl closes the socket as soon as sending fails: a second descriptor
/// lets us look. Over TLS there is nothing to look at, since libcurl has ended that by then.
extension Exchange {
    private static let most = 320 << 10

    /// Content is about to be sent.
    func keepSocket() {
        guard spare == nil, url.scheme == .http, !hasSecureProxy, let socket = handle?.socket else { return }
        spare = SpareSocket(of: socket)
    }

    /// Whether the content was not sent to its end.
    var isSendingCutShort: Bool {
        guard let content, let handle else { return false }
        guard let total = content.length ?? handle.contentLength else { return true }
        return handle.contentSent < total
    }

    /// Takes the answer that libcurl left lying; nothing happens when there is no whole head.
    func hearLastWord(after code: CURLcode) {
        guard [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING].contains(code), let spare else { return }
        var rest = spare.unread(upTo: Self.most)[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest[...end]
            rest = rest[rest.index(after: end)...]
            guard line.withUnsafeBytes({ onHeaderLine($0) }) else { return }
            guard hasAnswer else { continue }
            // Only libcurl undoes codings: without its content such an answer is still an answer.
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

    /// What was received and not read; never waits.
    func unread(upTo most: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < most {
            let room = most - bytes.count
            let chunk = [UInt8](unsafeUninitializedCapacity: min(room, 16 << 10)) { buffer, count in
                count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)))
            }
            // The first call may only bring the error that sending met.
            if chunk.isEmpty { break }
            bytes += chunk
        }
        return bytes
    }
}
