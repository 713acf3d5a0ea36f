import XferCore
import XferFiles
import XferModel

/// A `304` response: the version that the request named is current.
struct Confirmation: Sendable {
    let head: ResponseHead
    let url: HTTPURL
    let times: ExchangeTimes
}

/// A body whose last byte has arrived, not yet verified.
struct WholeBody: Sendable {
    let part: PartialFile
    let length: Int64
    /// Validators, length and segments of the bytes.
    let described: ResumeData
    /// The file's metadata when its last byte had arrived; nil where metadata cannot be relied on.
    var facts: FileFacts?

    /// The digest that must match for the bytes to be of one version; nil where a validator has proved that.
    let holdingDigest: Checksum?

    /// Throws if the open file has changed since its last byte arrived. Blocks.
    ///
    /// - Throws: `partChanged`, `closed`, `system`.
    func requireUnchanged() throws(FileError) {
        let now = try part.requireWhole(length)
        guard let facts, let now, !now.isSameContent(as: facts) else { return }
        throw .partChanged(path: part.path, problem: "it was changed after its last byte had come")
    }
}
