import XferModel

/// The columns of a specification that an update of a task may change.
struct SpecificationColumns {
    let priority: Value
    let host: Value
    var group: Value
    let label: Value
    let url: Value
    let directory: Value
    /// Device and inode of the directory. The client did not set them, so they are not part of the fingerprint.
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

    /// A hash that distinguishes a repeated add from a different add with the same client key. It covers the resulting
    /// specification, including values from the profile and defaults.
    ///
    /// Rows of earlier versions contain such hashes, so the function must not change. Options with their default values
    /// are not hashed, so a new option does not change existing hashes.
    ///
    /// - Parameter body: the stored content of the request.
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

/// A 64-bit FNV-1a hash that distinguishes a repeated add from a different add with the same client key. Rows contain
/// it, so the function must not change.
struct Fingerprint {
    private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    init() {}

    /// - Parameter requestText: the text of the client's add.
    init(requestText: String) {
        for byte in requestText.utf8 { add(byte) }
    }

    var value: Int64 { Int64(bitPattern: hash) }

    mutating func add(_ byte: UInt8) { hash = (hash ^ UInt64(clamping: byte)) &* 0x100_0000_01B3 }
}
