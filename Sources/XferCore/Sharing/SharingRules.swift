public import XferModel

/// The rules that decide which tasks share one transfer: one request is made, and each of them gets the bytes.
///
/// Class of origin: SDWebImageDownloader's URLCallbacks, one download with many callbacks.
public enum SharingRules {
    /// The sharing key: tasks with an equal key may share a transfer. Nil when the task shares with no other task.
    ///
    /// Besides the `CoalesceKey` it contains the kind of result, since a file and an answer are received in different
    /// ways. Bytes that may be continued without a validator are only for tasks that allow that. With `on_conflict:
    /// update` and `continue` there is no key: such a request depends on a file of the task's own. Where only a digest
    /// can prove that bytes of several mirrors belong together, all tasks have to demand the same digest: without it a
    /// task could not verify them.
    ///
    /// It begins with a piece of the URL, which reveals no more than the rest does: see `neighbourhood`.
    public static func key(
        of specification: TaskSpecification, isSharedBetweenOwners: Bool, digest: KeyedDigest
    ) -> [UInt8]? {
        guard specification.coalesces, ![.update, .continue].contains(specification.destination.onConflict),
            let key = CoalesceKey(specification, isSharedBetweenOwners: isSharedBetweenOwners, digest: digest)
        else { return nil }
        let demanded = specification.mirrors.isEmpty ? nil : specification.checksum
        return neighbourhood(of: specification.request.url) + key.bytes + [
            Way(specification.kind).rawValue, specification.resumesUnsafely ? 1 : 0,
        ]
            + Array((demanded?.description ?? "").utf8)
    }

    /// The beginning of the file's name, of a fixed length. Lists of URLs are mostly in the order of their names, so
    /// the keys of tasks that were added together are neighbours in the index of keys. With the digest alone, each
    /// task's key would be on a different page: adding, pausing or cancelling a million tasks would write a million
    /// pages.
    private static func neighbourhood(of url: HTTPURL) -> [UInt8] {
        var start = url.target.utf8.startIndex
        var index = start
        while index < url.target.utf8.endIndex, url.target.utf8[index] != UInt8(ascii: "?") {
            let next = url.target.utf8.index(after: index)
            if url.target.utf8[index] == UInt8(ascii: "/") { start = next }
            index = next
        }
        let name = Array(url.target.utf8[start...].prefix(16))
        return name + Array(repeating: 0, count: 16 - name.count)
    }

    /// The values are stored in keys and must never change.
    private enum Way: UInt8 {
        case file = 1
        case answer = 2

        init(_ kind: TaskKind) { self = kind == .download ? .file : .answer }
    }

    /// True if a starting task may continue this transfer's kept bytes: they are incomplete, and their validator can
    /// prove that the server's version is still the same.
    ///
    /// - Parameter place: the place of a new transfer of the task. Without an identity, its path has to agree.
    public static func canContinue(_ transfer: Transfer, in place: PartialLocation) -> Bool {
        let isThere =
            place.identity == .unknown
            ? transfer.partial.directory == place.directory : transfer.partial.identity == place.identity
        guard transfer.publishIntent == nil, isThere, !isWhole(transfer) else { return false }
        return ResumeRules.isResumable(transfer.resumeData) == true
    }

    /// True if a task that starts may join the transfer: one that is already whole was requested at an earlier time.
    public static func mayBeJoined(_ transfer: Transfer) -> Bool { transfer.publishIntent == nil && !isWhole(transfer) }

    private static func isWhole(_ transfer: Transfer) -> Bool {
        guard let total = transfer.resumeData.totalLength else { return false }
        return transfer.resumeData.committedByteCount >= total
    }

    /// True if every task that waits for a transfer gave a digest that the finished bytes must have.
    ///
    /// - Parameters:
    ///   - own: the digest of the task that created the transfer.
    ///   - members: the digests of the tasks that wait; nil with mirrors, where all tasks that share have the same.
    public static func isDigestKnown(own: Checksum?, ofMembers members: [Checksum?]?) -> Bool {
        guard let members else { return own != nil }
        return !members.isEmpty && members.allSatisfy { $0 != nil }
    }

    /// A digest that verifies the finished bytes of a transfer: with mirrors the one that all tasks demand, else the
    /// first strong one of a task that waits, or of the task that created the transfer.
    ///
    /// - Parameters: as of `isDigestKnown`.
    public static func demandedDigest(own: Checksum?, ofMembers members: [Checksum?]?) -> Checksum? {
        guard let members else { return own }
        return (members + [own]).lazy.compactMap(\.self).first(where: \.algorithm.isStrong)
    }

    /// The digest under which a body is accepted although nothing else proves that it is complete: a strong one if
    /// there is any. Nil unless every waiting task gave one.
    ///
    /// - Parameters: see `isDigestKnown`.
    public static func endDigest(own: Checksum?, ofMembers members: [Checksum?]?) -> Checksum? {
        guard isDigestKnown(own: own, ofMembers: members) else { return nil }
        let given = (members ?? [own]).compactMap(\.self)
        return given.first(where: \.algorithm.isStrong) ?? given.first
    }

    /// The common value of all elements; nil if they differ or there are none.
    public static func common<Value: Hashable>(_ values: some Sequence<Value>) -> Value? {
        let distinct = Set(values)
        return distinct.count == 1 ? distinct.first : nil
    }

    /// The rate limit of a transfer whose tasks have these limits: the highest; 0 is unlimited.
    public static func highestRate(_ rates: some Sequence<Int64>) -> Int64 {
        var highest: Int64 = 0
        for rate in rates {
            guard rate > 0 else { return 0 }
            highest = max(highest, rate)
        }
        return highest
    }
}

/// Decides which task is in a slot, and which leave it when another one joins.
///
/// Class of origin: UIView+WebCacheOperation, where setting an operation for a key cancels the present one.
public enum SlotRules {
    /// True if a task in this state still occupies its slot. A task that has ended has left it; a staged task still has
    /// to be committed and occupies it.
    public static func isOccupied(in state: TaskState) -> Bool { !state.isTerminal }

    /// The tasks that the newcomer supersedes, of all that were found in its slot. The newcomer is already among the
    /// found tasks, so that a shared transfer is never without a task.
    public static func superseded(by newcomer: TaskID, among found: [TransferTask]) -> [TransferTask] {
        found.filter { $0.id != newcomer && isOccupied(in: $0.state) }
    }
}
