import StrictJSON
import XferModel
public import XferProtocol

extension Aria2Options {
    /// The task that `addUri` adds.
    ///
    /// - Parameter uris: mirrors of the same bytes.
    public func task(for uris: [String]) throws(Aria2Fault) -> NewTask {
        let task = try content(for: uris)
        do throws(WireError) {
            // The same checks as for any client's task, so that a fault is named before the service is called.
            return try NewTask(strict: task.wire)
        } catch {
            throw Aria2Fault("\(error)")
        }
    }

    private func content(for uris: [String]) throws(Aria2Fault) -> NewTask {
        let urls = try Self.checked(uris)
        guard let first = urls.first else { throw Aria2Fault("URI is not provided.") }
        var task = NewTask()
        if urls.count == 1 { task.url = first } else { task.urls = urls }
        task.output = try name()
        task.dir = self[.directory].flatMap { $0.isEmpty ? nil : $0 }
        task.checksum = try parsedChecksum()
        let fields = try headers(for: first)
        if !fields.isEmpty { task.headers = HeaderChanges(fields) }
        if let credential = try credential() { task.access.credential = .set(credential) }
        if let proxy = try proxy(for: first) { task.access.proxy = .set(proxy) }
        task.limits = try limits()
        task.destination = try destination()
        task.choices = try timeouts()
        if try flag(.pause) == true { task.paused = true }
        // A person who adds a URL again wants it to be tried again.
        task.retryFailed = true
        task.group = Aria2Marker.group
        if let gid = try chosenGID() {
            task.clientKey = Aria2Marker.clientKey(gid)
            task.label = gid.description
        }
        return task
    }

    /// The changes that `changeOption` requests; nil if no option applies to the service.
    public func changes(for url: String) throws(Aria2Fault) -> TaskChanges? {
        for option in [Aria2Option.Mapped.pause, .gid, .user, .password] where values[option] != nil {
            throw .option(option.rawValue, "it cannot be changed after the download was added")
        }
        if values[.header] == nil, let alone = [.referer, .userAgent].first(where: { values[$0] != nil }) {
            throw .option(alone.rawValue, "header fields are replaced together: set header as well")
        }
        guard !isEmpty else { return nil }
        var changes = TaskChanges()
        if let name = try name() { changes.output = .set(name) }
        if let directory = self[.directory], !directory.isEmpty { changes.dir = directory }
        if let checksum = try parsedChecksum() { changes.checksum = .set(checksum) }
        if values[.header] != nil { changes.headers = HeaderList(try headers(for: url)) }
        if let proxy = try proxy(for: url) { changes.access.proxy = .set(proxy) }
        changes.limits = try limits()
        changes.destination = try destination()
        changes.choices = try timeouts()
        do throws(WireError) {
            return try TaskChanges(strict: changes.wire)
        } catch {
            throw Aria2Fault("\(error)")
        }
    }

    /// The GID that the client chose.
    public func chosenGID() throws(Aria2Fault) -> Aria2GID? {
        guard let text = self[.gid], !text.isEmpty else { return nil }
        guard let gid = Aria2GID(text) else { throw Aria2Fault("Invalid GID \(text.prefix(40))") }
        return gid
    }

    private static func checked(_ uris: [String]) throws(Aria2Fault) -> [String] {
        var urls: [String] = []
        for uri in uris where !urls.contains(uri) {
            let scheme = uri.prefix { $0 != ":" }.lowercased()
            switch scheme {
            case "http", "https": urls.append(uri)
            case "magnet": throw Aria2Fault.torrents
            case "ftp", "sftp": throw Aria2Fault("\(scheme) is not supported: xferd fetches http and https")
            default: throw Aria2Fault("unrecognized URI or unsupported protocol: \(uri.prefix(120))")
            }
        }
        return urls
    }

    /// A name or path beneath `dir`, as with aria2.
    private func name() throws(Aria2Fault) -> String? {
        guard let name = self[.out], !name.isEmpty else { return nil }
        guard !name.hasPrefix("/"), !name.split(separator: "/").contains("..") else {
            throw .option("out", "expected a name or path beneath dir")
        }
        return name
    }

    private func parsedChecksum() throws(Aria2Fault) -> Checksum? {
        guard let text = self[.checksum], !text.isEmpty else { return nil }
        do throws(ChecksumSyntaxError) {
            return try Checksum(parsing: text)
        } catch {
            throw .option("checksum", "\(error)")
        }
    }

    private func headers(for url: String) throws(Aria2Fault) -> [HeaderField] {
        var fields: [HeaderField] = []
        for text in values[.header] ?? [] where !text.isEmpty {
            guard let (name, value) = Aria2Value.header(text) else { throw .option("header", "expected Name: value") }
            fields.append(HeaderField(name: name, value: value))
        }
        func add(_ name: String, _ value: String?) {
            guard let value, !value.isEmpty, !fields.contains(where: { $0.name.lowercased() == name.lowercased() })
            else { return }
            fields.append(HeaderField(name: name, value: value))
        }
        add("Referer", self[.referer] == "*" ? url : self[.referer])
        add("User-Agent", self[.userAgent])
        return fields
    }

    private func credential() throws(Aria2Fault) -> CredentialRecord? {
        guard let user = self[.user], !user.isEmpty else {
            guard (self[.password] ?? "").isEmpty else { throw .option("http-passwd", "expected http-user as well") }
            return nil
        }
        return CredentialRecord(user: user, password: self[.password] ?? "")
    }

    private func limits() throws(Aria2Fault) -> TaskSpecification.Limits {
        var limits = TaskSpecification.Limits()
        if let rate = try bytes(.downloadLimit) { limits.maxReceiveRate = .set(rate) }
        if let rate = try bytes(.uploadLimit) { limits.maxSendRate = .set(rate) }
        // Zero tries are unlimited ones; the first one counts.
        if let tries = try number(.tries, 0...1_000_000), tries > 0 {
            limits.maxRetries = .set(Int(clamping: tries) - 1)
        }
        let counts = [try number(.split, 1...1024), try number(.connections, 1...1024)].compactMap(\.self)
        if let least = counts.min(), let count = SegmentCount(min(Int(clamping: least), SegmentCount.range.upperBound))
        {
            limits.segments = .set(count)
        }
        return limits
    }

    private func destination() throws(Aria2Fault) -> Destination.Choices {
        var choices = Destination.Choices()
        if try flag(.conditional) == true {
            choices.onConflict = .set(.update)
        } else if try flag(.overwrite) == true {
            choices.onConflict = .set(.overwrite)
        } else if try flag(.continuing) == true {
            choices.onConflict = .set(.continue)
        } else if let renames = try flag(.rename) {
            choices.onConflict = .set(renames ? .rename : .fail)
        }
        if let flag = try flag(.remoteTime) { choices.usesRemoteTime = .set(flag) }
        return choices
    }

    private func timeouts() throws(Aria2Fault) -> TransferRequest.Choices {
        var choices = TransferRequest.Choices()
        if let seconds = try number(.connectTimeout, 0...600) { choices.connectTimeout = .set(Double(seconds)) }
        if let seconds = try number(.timeout, 0...600) { choices.idleTimeout = .set(Double(seconds)) }
        if let rate = try bytes(.lowestSpeed) { choices.minReceiveRate = .set(rate) }
        return choices
    }
}

/// The marker that distinguishes tasks that were added through the facade.
public enum Aria2Marker {
    /// The group of all tasks that the facade adds, and by default of all that it shows.
    public static let group = "aria2"
    private static let prefix = "aria2:"

    /// The key that makes a chosen GID unique and keeps it.
    public static func clientKey(_ gid: Aria2GID) -> String { prefix + gid.description }

    /// The GID that a key keeps.
    public static func gid(ofKey key: String?) -> Aria2GID? {
        guard let key, key.hasPrefix(prefix) else { return nil }
        return Aria2GID(String(key.dropFirst(prefix.count)))
    }
}

extension Aria2Fault {
    public static let torrents = Aria2Fault("BitTorrent is not supported: xferd fetches http and https")
    public static let metalinks = Aria2Fault(
        "Metalink is not supported: add the mirrors with aria2.addUri and the option checksum")
}
