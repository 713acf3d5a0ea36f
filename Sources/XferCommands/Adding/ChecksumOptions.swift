import ArgumentParser
import Glibc
import StrictJSON
import XferClient
import XferModel
import XferProtocol

/// A list of digests for the files of `add`.
struct ChecksumOptions: ParsableArguments {
    @Option(
        name: .customLong("checksums"),
        help: ArgumentHelp(
            "Verify each file with its digest in this list: a file or a URL of SHA256SUMS, MD5SUMS or NAME.sha256; may be "
                + "repeated. Without URLs all files of the lists are added.", valueName: "file or url"),
        completion: .file())
    var lists: [String] = []

    @Option(
        name: .customLong("base-url"),
        help: ArgumentHelp(
            "With --checksums: the base URL of the names in the list (default: the list's own directory); further ones are "
                + "mirrors of each file.", valueName: "url"))
    var bases: [String] = []

    @Option(
        name: .customLong("keyring"),
        help: ArgumentHelp(
            "With --checksums: accept the list only if a key in this file has signed it (gpgv).", valueName: "file"),
        completion: .file())
    var keyring: String?

    @Option(
        name: .customLong("signature"),
        help: ArgumentHelp(
            "With --keyring: the signature beside the list, a file or a URL; without it the list is clear-signed.",
            valueName: "file or url"), completion: .file())
    var signature: String?

    /// Checks that the options do not contradict each other.
    ///
    /// - Parameter hasURLs: true if URLs, or a list of them, are given.
    func check(hasURLs: Bool, beside checksum: Checksum?) throws {
        guard !lists.isEmpty else {
            if !bases.isEmpty { throw ValidationError("--base-url needs --checksums.") }
            if keyring != nil { throw ValidationError("--keyring needs --checksums.") }
            if signature != nil { throw ValidationError("--signature needs --checksums and --keyring.") }
            return
        }
        if signature != nil, lists.count > 1 {
            throw ValidationError("--signature is for one list; with several --checksums they are clear-signed.")
        }
        if signature != nil, keyring == nil { throw ValidationError("--signature needs --keyring.") }
        if checksum != nil { throw ValidationError("--checksum and --checksums exclude each other.") }
        if hasURLs, !bases.isEmpty { throw ValidationError("--base-url and URLs exclude each other.") }
        if !hasURLs, bases.isEmpty, !lists.allSatisfy(Self.isURL) {
            throw ValidationError("--checksums FILE needs --base-url URL, or the URLs of its files.")
        }
    }

    static func isURL(_ text: String) -> Bool {
        ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
    }

    /// The lists, in the order of the options.
    ///
    /// - Parameter fetch: gets the content of a URL.
    func read(_ fetch: (String) throws -> [UInt8]) throws -> [ChecksumList] {
        try lists.map { try Self.read($0, keyring: keyring, signature: signature, fetch) }
    }

    private static func read(
        _ list: String, keyring: String?, signature: String?, _ fetch: (String) throws -> [UInt8]
    ) throws -> ChecksumList {
        let url = PastedURL.bare(list)
        let isURL = Self.isURL(url)
        let bytes = try isURL ? fetch(url) : FileText.bytes(list, option: "--checksums")
        if let program = Self.unpacker(of: bytes) {
            throw CommandFailure.usage(
                "--checksums: \(SafeText.sanitised(list)) is compressed: unpack it with \(program), and give the unpacked "
                    + "file")
        }
        let decoded = isURL ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
        guard var text = decoded else {
            throw CommandFailure.usage("--checksums: \(SafeText.sanitised(list)) is not UTF-8 text")
        }
        if let keyring {
            let detached = try signature.map { place in
                let url = PastedURL.bare(place)
                return try Self.isURL(url) ? fetch(url) : FileText.bytes(place, option: "--signature")
            }
            text = try ListSignature.verified(text, signature: detached, keyring: keyring)
        }
        let found = ChecksumList(text, title: isURL ? Redaction.url(url) : list)
        guard !found.entries.isEmpty else {
            throw CommandFailure.usage(
                "--checksums: " + (found.refused.first?.words ?? "\(SafeText.sanitised(list)) has no digest"))
        }
        return found
    }

    /// The program that unpacks these bytes; nil if they are not compressed (magic(5)).
    private static func unpacker(of bytes: [UInt8]) -> String? {
        let programs: [(magic: [UInt8], name: String)] = [
            ([0x1f, 0x8b], "gunzip"), ([0xfd, 0x37, 0x7a, 0x58, 0x5a], "unxz"), ([0x42, 0x5a, 0x68], "bunzip2"),
            ([0x28, 0xb5, 0x2f, 0xfd], "unzstd"),
        ]
        return programs.first { bytes.starts(with: $0.magic) }?.name
    }

    /// All files of the lists as entries of an input list. Of a file in several lists the first one counts.
    ///
    /// - Parameter read: the lists, in the order of the options.
    func inputList(of read: [ChecksumList]) -> InputList {
        var input = InputList([])
        var known: Set<[String]> = []
        for (place, list) in zip(lists, read) {
            let files = list.inputList(beneath: bases.isEmpty ? [Self.directory(of: place)] : bases)
            input.entries += files.entries.filter { known.insert($0.urls).inserted }
            input.refused += files.refused
        }
        return input
    }

    /// The URL that the names of a list are beneath.
    private static func directory(of list: String) -> String {
        let path = PastedURL.bare(list).prefix { !"?#".contains($0) }
        return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }
}

/// Gets the content of a URL by the daemon: with the profile, the login and the trust of the tasks that it is for.
struct FetchedText {
    let daemon: DaemonSession
    /// A task with the options of the command line.
    let task: NewTask

    /// The longest list taken.
    private static let longest = 64 << 20

    /// - Throws: `CommandFailure`, at once if the queue is paused. After an interruption the list's task is cancelled.
    func read() throws(CommandFailure) -> [UInt8] {
        // Only operators may ask; a guest waits.
        if let stats = try? daemon.call(QueueStats.self).value, stats.paused {
            throw CommandFailure(
                .refused,
                "--checksums: the queue is paused, so the list cannot be fetched: "
                    + "\(SuggestedCommand.text("queue resume")), or give the list as a file; nothing was added")
        }
        guard case .one(let added) = try daemon.call(TaskAdd.self, .one(try request())).value else { return [] }
        let signals = SignalPipe(catching: SignalPipe.endSignals)
        daemon.connection.interruptDescriptor = signals?.descriptor
        defer {
            daemon.connection.interruptDescriptor = nil
            signals?.end()
        }
        do throws(CommandFailure) {
            return try result(of: added.task.id)
        } catch {
            guard error.status == .interrupted else { throw error }
            daemon.connection.interruptDescriptor = nil
            throw CommandFailure(
                .interrupted, "interrupted while the list was fetched (\(ending(added.task.id))); no file was added")
        }
    }

    /// Cancels and removes the list's task. Returns what became of it.
    private func ending(_ id: TaskID) -> String {
        do throws(CommandFailure) {
            _ = try daemon.call(TaskCancel.self, TaskSelection(ids: [id]))
            _ = try daemon.call(TaskRemove.self, TaskRemove.Params(TaskSelection(ids: [id])))
            return "#\(id) is cancelled"
        } catch {
            return "\(SuggestedCommand.text("cancel \(id)")) ends it"
        }
    }

    private func result(of id: TaskID) throws(CommandFailure) -> [UInt8] {
        let ended = try daemon.call(TaskWait.self, TaskWait.Params(ids: [id]), timeout: nil).value.tasks.first
        guard ended?.state?.value == .completed else {
            let reason = ended?.error.map { FailureText.readable($0.message) } ?? "it did not complete"
            throw CommandFailure(.taskFailed, "--checksums: \(SafeText.sanitised(reason)) (#\(id))")
        }
        var bytes: [UInt8] = []
        while true {
            let offset = Int64(clamping: bytes.count)
            let page = try daemon.call(TaskResult.self, TaskResult.Params(id: id, offset: offset)).value
            guard let part = page.bytes else { break }
            bytes += part
            if page.eof || part.isEmpty { break }
            guard bytes.count <= Self.longest else { throw .usage("--checksums: the list is too long") }
        }
        _ = try daemon.attempt(TaskRemove.self, TaskRemove.Params(TaskSelection(ids: [id])))
        return bytes
    }

    /// The same request without the parts about a file.
    private func request() throws(CommandFailure) -> NewTask {
        let wanted: Set = [
            "url", "headers", "profile", "credential", "proxy", "cookies", "cookie_list", "policy", "ca_file",
            "client_cert", "redirect", "max_redirects", "allow_downgrade", "resolve", "connect_to", "interface",
            "ip_version", "owner",
        ]
        var fields = JSONObject()
        for (name, value) in task.wire.objectValue?.members ?? [] where wanted.contains(name) { fields[name] = value }
        fields["kind"] = "data"
        do throws(WireError) {
            return try NewTask(strict: .object(fields))
        } catch {
            throw .usage("--checksums: \(error)")
        }
    }
}
