import Glibc
import NIOConcurrencyHelpers
import StrictJSON

/// Messages of a test, one JSON line each, for `rpc-schema/validate.py --transcript`.
///
/// If `XFER_TRANSCRIPTS` is set to a directory, the file stays there after the test, so that one run of the script can
/// check the messages of all tests.
public final class Transcript: Sendable {
    /// The file with the lines.
    public let path: String
    private let descriptor: NIOLockedValueBox<Int32>
    private let scratch: TemporaryDirectory?

    public init() throws {
        if let kept = getenv("XFER_TRANSCRIPTS") {
            scratch = nil
            path = "\(String(cString: kept))/\(getpid())-\(UInt64.random(in: 0 ... .max)).ndjson"
        } else {
            let directory = try TemporaryDirectory("xfer-transcript")
            scratch = directory
            path = directory.file("messages.ndjson")
        }
        let opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw PosixError("open \(path)") }
        descriptor = NIOLockedValueBox(opened)
    }

    deinit { descriptor.withLockedValue { _ = close($0) } }

    func record(_ direction: String, _ method: String, _ message: JSONValue, connection: ObjectIdentifier) {
        let line: JSONValue = [
            "direction": .string(direction), "method": .string(method), "message": message,
            "connection": .string(String(describing: connection)),
        ]
        let bytes = Array((line.text + "\n").utf8)
        descriptor.withLockedValue { _ = write($0, bytes, bytes.count) }
    }
}
