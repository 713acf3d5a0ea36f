import Glibc
import XferGateway
import XferManager
import XferModel

/// Checks that the files, programs and directories in the configuration exist.
///
/// The configuration is refused if the missing file would fail every task that needs it until the configuration is
/// changed: authorities and hooks' programs. A missing file that may appear later causes a warning; until then its
/// tasks fail with a specific reason, or wait. That applies to roots on disks that are not mounted yet, secrets, client
/// certificates of profiles, and users in the filters of webhooks.
struct NamedFiles {
    private let loaded: LoadedSettings
    private let root: ConfigurationNode?
    private let path: String
    private let instance: InstancePaths
    private(set) var problems: [SettingsProblem] = []
    private(set) var warnings: [SettingsProblem] = []

    init(_ loaded: LoadedSettings, file: ConfigurationText?, instance: InstancePaths) {
        self.loaded = loaded
        self.instance = instance
        path = file?.path ?? ""
        // A file that is no YAML was reported before.
        root =
            (try? file.map { text throws(ConfigurationSyntaxError) in try ConfigurationNode.parse(yaml: text.text) })
            ?? nil
        checkAuthorities()
        checkHooks()
        checkRoots()
        checkProfiles()
        checkWebhooks()
        checkListeners()
    }

    private var settings: Settings { loaded.settings }

    private mutating func checkAuthorities() {
        guard let file = settings.service.authoritiesFile, let fault = Self.fault(ofAuthorities: file) else { return }
        let problem = SettingsProblem(
            origin: origin("trust.ca_file"), key: "trust.ca_file",
            message: "\(file) \(fault); without it no https server is trusted")
        // With the default value, a machine without the usual bundle may still run without https.
        if loaded.origins["trust.ca_file"] == nil { warnings.append(problem) } else { problems.append(problem) }
    }

    private mutating func checkHooks() {
        for hook in settings.service.hooks {
            guard let program = hook.arguments.first, let fault = Self.fault(ofProgram: program) else { continue }
            problems.append(
                SettingsProblem(
                    origin: origin("hooks", [hook.name, "argv", "0"]), key: "hooks.\(hook.name).argv",
                    message: "the program \(program) \(fault)"))
        }
    }

    private mutating func checkRoots() {
        if loaded.origins["download.roots"] != nil {
            for (index, root) in settings.service.roots.enumerated() {
                check(root: root, "download.roots", ["\(index)"])
            }
        }
        checkIncomplete()
        for (key, grants) in [("access.users", settings.access.users), ("access.groups", settings.access.groups)] {
            for (name, grant) in grants.sorted(by: { $0.key < $1.key }) {
                for (index, root) in grant.roots.enumerated() { check(root: root, key, [name, "roots", "\(index)"]) }
            }
        }
    }

    /// The faults of entries of `access.users` and `access.groups`: accounts that do not exist, that occur twice, or that
    /// may never call.
    func entryProblems(accounts: AccountDirectory = .system) -> [SettingsProblem] {
        AccessPolicy.entryFaults(settings, accounts: accounts).map { fault in
            SettingsProblem(
                origin: origin(fault.key, [fault.name]), key: "\(fault.key).\(fault.name)", message: fault.reason)
        }
    }

    /// The directory itself is made when the first download needs it, the one that contains it is not.
    private mutating func checkIncomplete() {
        let key = "download.incomplete_dir"
        guard let path = settings.service.incompleteDirectory else { return }
        if let own = instance.forbiddenDirectories.first(where: { (path + "/").hasPrefix($0 + "/") }) {
            problems.append(
                SettingsProblem(
                    origin: origin(key), key: key,
                    message: "\(path) is in \(own), which has xferd's own files: choose a directory outside"))
        } else if case .other = RootStatus(of: path) {
            problems.append(SettingsProblem(origin: origin(key), key: key, message: "\(path) is not a directory"))
        } else if path != "/" {
            check(root: InstancePaths.directory(of: path), key, [])
        }
    }

    private mutating func check(root: String, _ key: String, _ steps: [String]) {
        let name = ([key] + steps.dropLast()).joined(separator: ".")
        let fault: String
        let isRoot = key != "download.incomplete_dir"
        let consequence = isRoot ? "new tasks with it are refused, and earlier ones wait" : "tasks wait"
        switch RootStatus(of: root) {
        case .directory: return
        case .other:
            problems.append(
                SettingsProblem(origin: origin(key, steps), key: name, message: "\(root) is not a directory"))
            return
        case .unreachable(let code): fault = "\(Self.unreachable(code)); \(consequence) until it exists"
        case .silent: fault = "does not answer; \(consequence) until it does"
        }
        warnings.append(
            SettingsProblem(origin: origin(key, steps), key: name, message: "the directory \(root) \(fault)"))
    }

    private mutating func checkProfiles() {
        for profile in settings.service.profiles {
            let consequence = "its tasks fail as credential_missing until that is corrected"
            if let secret = profile.credential?.secret {
                warn(of: secret, "profiles", [profile.name, "credential"], consequence)
            }
            if let secret = profile.proxy?.credential?.secret {
                warn(of: secret, "profiles", [profile.name, "proxy", "credential"], consequence)
            }
            guard let files = profile.clientCertificate else { continue }
            do throws(PolicyTextError) {
                try PolicyText.check(files)
            } catch {
                let steps = [profile.name, "client_cert"]
                warnings.append(
                    SettingsProblem(
                        origin: origin("profiles", steps), key: "profiles.\(steps.joined(separator: "."))",
                        message: "\(error.description); its tasks fail until that is corrected"))
            }
        }
    }

    private mutating func checkListeners() {
        for (index, listener) in settings.listen.enumerated() {
            guard let fault = listener.tls?.files.fault else { continue }
            problems.append(
                SettingsProblem(
                    origin: origin("listen", ["\(index)", "tls"]), key: "listen[\(index)].tls", message: fault))
        }
    }

    private mutating func checkWebhooks() {
        for webhook in settings.webhooks {
            let name = webhook.definition.name
            if let secret = webhook.definition.secret {
                warn(of: secret, "webhooks", [name], "its deliveries wait until that is corrected")
            }
            for (index, owner) in (webhook.owners ?? []).enumerated() where AccountDirectory.system.owner(owner) == nil
            {
                warnings.append(
                    SettingsProblem(
                        origin: origin("webhooks", [name, "filter", "owners", "\(index)"]),
                        key: "webhooks.\(name).filter.owners", message: "there is no user \(owner)"))
            }
        }
    }

    /// Warns if a secret's place cannot be read.
    ///
    /// - Parameter place: the steps from the key's value to the mapping with the secret.
    private mutating func warn(of secret: Secret, _ key: String, _ place: [String], _ consequence: String) {
        let isChecked =
            switch secret {
            case .file: true
            case .systemdCredential: instance.credentialsDirectory != nil
            // `xferd --check-config` may run in another environment than the service.
            case .environment, .value: false
            }
        guard isChecked,
            let fault = SecretSource.fault(of: secret, credentialsDirectory: instance.credentialsDirectory)
        else { return }
        warnings.append(
            SettingsProblem(
                origin: origin(key, place + ["secret"]), key: "\(key).\(place.joined(separator: ".")).secret",
                message: "\(fault); \(consequence)"))
    }

    // MARK: Places

    /// The position of a part of a key's value: the deepest that can be found.
    private func origin(_ key: String, _ steps: [String] = []) -> SettingOrigin {
        guard case .file(let path, let position)? = loaded.origins[key] else { return loaded.origins[key] ?? .default }
        var node = root
        for step in key.split(separator: ".").map(String.init) { node = node?.child(step) }
        var found = position
        for step in steps {
            guard let next = node?.child(step) else { break }
            found = next.position ?? found
            node = next
        }
        return .file(path: path, position: found)
    }

    // MARK: Looking

    private static func fault(ofAuthorities path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return unreachable(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return "is not a file" }
        let mark = Array("-----BEGIN ".utf8)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < largestAuthorities {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return unreachable(errno) }
            if count == 0 { break }
            bytes += chunk[..<count]
            if bytes.firstRange(of: mark) != nil { return nil }
        }
        return "contains no certificate in PEM form"
    }

    /// The number of bytes of a bundle that are searched for its first certificate.
    private static let largestAuthorities = 1 << 20

    private static func fault(ofProgram path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return unreachable(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { return "is not a file" }
        return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? nil : "may not be executed by the daemon's user"
    }

    private static func unreachable(_ code: Int32) -> String {
        code == ENOENT || code == ENOTDIR
            ? "does not exist" : "cannot be opened: \(String(cString: strerror(code)))"
    }
}

extension ConfigurationNode {
    /// A mapping's member by its key, a list's item by its number; a list of one may be written without brackets.
    fileprivate func child(_ step: String) -> ConfigurationNode? {
        switch content {
        case .mapping(let members): members.first { $0.key.text == step }?.value
        case .sequence(let items): Int(step, radix: 10).flatMap { items.indices.contains($0) ? items[$0] : nil }
        case .scalar: step == "0" ? self : nil
        }
    }
}
