import XferModel

/// The columns of a specification that `update` may change.
struct SpecificationColumns {
    let priority: Value
    let host: Value
    var group: Value
    let label: Value
    let url: Value
    let directory: Value
    /// Device and inode of the directory; the client did not give them, so they are not part of the fingerprint.
    let directoryDevice: Value
    let directoryInode: Value
    let name: Value
    let checksum: Value
    let options: Value
    let meta: Value
    let policy: Value
    let profile: Value
    let slot: Value

    init(_ specification: TaskSpecification) throws(StoreError) {
        priority = .integer(Int64(specification.priority.rawValue))
        host = .text(specification.request.url.hostKey)
        group = Value(specification.group)
        label = Value(specification.label)
        url = .text(specification.request.url.string)
        directory = .text(specification.destination.directory)
        let identity = specification.destination.directoryIdentity
        directoryDevice = Value(identity.map { Int64(bitPattern: $0.device) })
        directoryInode = Value(identity.map { Int64(bitPattern: $0.inode) })
        name = Value(specification.destination.name)
        checksum = Value(specification.checksum?.description)
        options = Value(try TaskOptions.text(of: specification))
        meta = Value(specification.meta)
        policy = Value(specification.policy)
        profile = Value(specification.profile)
        slot = Value(specification.slot)
    }

    /// Distinguishes a repeated add from another one with the same key by the resulting specification, profile and
    /// defaults included. Rows of earlier programs have it, so it never changes; a default that is added later does not
    /// affect it.
    ///
    /// - Parameter body: the request's content as it is stored.
    func fingerprint(of specification: TaskSpecification, _ body: RequestBody?) throws(StoreError) -> Int64 {
        let body: String? = if let body { try JSONText.encode(body.withoutSpoolNames) } else { nil }
        var hash = Fingerprint()
        func add(_ byte: UInt8) { hash.add(byte) }
        var values = [Value(specification.kind), priority, group, label, url, directory, name, checksum, options, meta]
        // Fields that were added later count only where they are set, so that older rows keep their fingerprints.
        if policy != .null { values.append(policy) }
        if profile != .null || body != nil { values += [profile, Value(body)] }
        if slot != .null { values += [.text("slot"), slot] }
        for value in values {
            switch value {
            case .null: add(0)
            case .integer(let value):
                add(1)
                for shift in stride(from: 0, to: 64, by: 8) {
                    add(UInt8(truncatingIfNeeded: value >> Int64(clamping: shift)))
                }
            case .text(let text):
                add(2)
                for byte in text.utf8 { add(byte) }
            case .blob(let bytes):
                add(3)
                for byte in bytes { add(byte) }
            }
        }
        return hash.value
    }
}

/// FNV-1a, 64 bits, to distinguish a repeated add from another one with the same key. Kept in rows, so it never
/// changes.
struct Fingerprint {
    private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    init() {}

    /// - Parameter asked: the add as the client sent it.
    init(asked: String) {
        for byte in asked.utf8 { add(byte) }
    }

    var value: Int64 { Int64(bitPattern: hash) }

    mutating func add(_ byte: UInt8) { hash = (hash ^ UInt64(clamping: byte)) &* 0x100_0000_01B3 }
}
