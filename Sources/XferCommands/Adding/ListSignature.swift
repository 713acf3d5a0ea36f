import Glibc

/// The signature of a list, verified by gpgv(1) before a line of the list is read.
enum ListSignature {
    /// The signed text.
    ///
    /// - Parameters:
    ///   - list: the list; clear-signed unless there is a detached signature.
    ///   - signature: the bytes of a detached signature.
    ///   - keyring: the file with the keys that are trusted.
    static func verified(
        _ list: String, signature: [UInt8]?, keyring: String
    ) throws(CommandFailure) -> String {
        guard let program = ChildProgram.find("gpgv") else {
            throw .usage("--keyring: gpgv is not installed (apt install gpgv)")
        }
        guard access(absolute(keyring), R_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            throw .usage("--keyring: cannot read \(SafeText.sanitised(keyring)): \(reason)")
        }
        guard signature != nil || list.contains("-----BEGIN PGP SIGNED MESSAGE-----") else {
            throw .usage("--keyring: the list is not signed; --signature specifies a separate signature")
        }
        let directory = try ScratchDirectory()
        let text = try directory.write(Array(list.utf8), as: "list")
        var ring = absolute(keyring)
        let keys = try FileText.bytes(ring, option: "--keyring")
        if PGPArmour.isArmoured(keys) {
            guard let binary = PGPArmour.decode(keys) else {
                throw .usage(
                    "--keyring: the armour of \(SafeText.sanitised(keyring)) is damaged; get the file again")
            }
            ring = try directory.write(binary, as: "ring")
        }
        var words = ["--keyring", ring]
        if let signature {
            words += [try directory.write(signature, as: "signature"), text]
        } else {
            // Only the signed text, without the text around it.
            words += ["--output", directory.path + "/signed", text]
        }
        let ending = ChildProgram.run(
            program, words, environment: ["LC_ALL": "C", "PATH": "/usr/bin:/bin", "HOME": "/"])
        guard let ending, ending.status == 0 else {
            let reason =
                ending?.output.split(separator: "\n").last.map { SafeText.sanitised($0) } ?? "gpgv cannot be started"
            throw CommandFailure(.refused, "--keyring: the signature is not good: \(reason); nothing was added")
        }
        return signature == nil ? try FileText.read(directory.path + "/signed", option: "--keyring") : list
    }

    /// An absolute path: gpgv interprets a name without a slash as one in its own directory.
    private static func absolute(_ path: String) -> String {
        PathResolver.here()?.absolute(path) ?? path
    }
}

/// A directory that only this user can read, removed at the end.
final class ScratchDirectory {
    let path: String
    private var files: [String] = []

    init() throws(CommandFailure) {
        let parent = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array("\(parent)/xferctl.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(.taskFailed, "\(parent) cannot be written: \(String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for name in files + ["signed"] { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// Writes a file and returns its path.
    func write(_ bytes: [UInt8], as name: String) throws(CommandFailure) -> String {
        let file = path + "/" + name
        files.append(name)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.taskFailed, "\(file) cannot be written: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw CommandFailure(.taskFailed, "\(file) cannot be written: \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
        return file
    }
}
