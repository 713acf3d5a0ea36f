public import XferModel

/// A fault of an `UploadServer` for one request.
public enum UploadFault: Sendable {
    /// Resets the connection when this many bytes of the content have arrived and been stored.
    case drop(after: Int64)
    /// Stores the content, then closes the connection without an answer.
    case loseAnswer
    /// Answers at once and does nothing else; the connection ends.
    case answer(Int, [HeaderField] = [])
    /// Handles the request correctly, but answers with another offset; nil sends none.
    case misstate(offset: String?)
    /// Removes the upload, then answers with this status.
    case forget(Int)
    /// Stops reading when this many bytes have arrived, until the gate opens.
    case hold(after: Int64, Gate)
    /// Creates the upload without sending its URL.
    case omitLocation
    /// Sends no 104 for this request.
    case silence
    /// Sends the 104 with another interop version.
    case misversion(String)
    /// Sends a 104 with this offset before it reads.
    case claim(offset: String)
}

/// One request an `UploadServer` got.
public struct RecordedUploadRequest: Sendable {
    public let method: String
    public let target: String
    public let headers: [HeaderField]
    /// The number of content bytes that arrived.
    public internal(set) var received: Int64 = 0
    /// Status of the final response; nil when there was none.
    public internal(set) var status: Int?
    /// True if another request about the same upload was in progress when this one arrived.
    public internal(set) var wasConcurrent = false

    public func header(_ name: String) -> String? { headers.firstValue(named: name) }
}

/// One upload of an `UploadServer`.
public struct StoredUpload: Sendable {
    /// Path of its resource.
    public let target: String
    /// The announced length; nil when there was none.
    public var length: Int64?
    /// The number of stored bytes.
    public var offset: Int64 = 0
    public var isComplete = false
    /// True if it is made to be joined with others.
    public var isPart = false
    /// Header fields of the request that made it.
    public var headers: [HeaderField]
    /// The file with its bytes.
    public let file: String
    let descriptor: Int32
}
