import Glibc
import XferModel
import XferProtocol

extension AccessOptions {
    /// The choices of these options. Prompts for a password if one is needed, and reads the cookies' file.
    func choices(_ paths: PathResolver) throws(CommandFailure) -> AccessChoices {
        var choices = AccessChoices()
        choices.credential = Patch(try credential(paths))
        choices.proxy = try proxySettings()
        if let certificate = cert, let key {
            choices.clientCert = .set(
                ClientCertificateRecord(
                    ClientCertificateFiles(certificate: paths.absolute(certificate), key: paths.absolute(key))))
        }
        return choices
    }

    /// The credential that the options describe. Prompts for a password if one is needed.
    func credential(_ paths: PathResolver) throws(CommandFailure) -> CredentialRecord? {
        var record = try login(readFrom: paths)
        if !loginOrigins.isEmpty { record?.origins = loginOrigins.map(\.origin) }
        return record
    }

    private func login(readFrom paths: PathResolver) throws(CommandFailure) -> CredentialRecord? {
        var record = CredentialRecord()
        if let bearerFile {
            record.scheme = .bearer
            record.secret = .value(try Self.firstLine(of: bearerFile, option: "--bearer-file"))
            return record
        }
        if let bearerFrom {
            record.scheme = .bearer
            record.secret = bearerFrom.secret(paths)
            return record
        }
        if netrc || netrcFile != nil {
            guard let path = netrcFile ?? Self.home.map({ $0 + "/.netrc" }) else {
                throw .usage("--netrc: HOME is not set; use --netrc-file FILE")
            }
            record.scheme = .netrc
            record.secret = .reference(SecretReference(file: paths.absolute(path)))
            return record
        }
        guard let login else { return nil }
        record.user = login
        if let signature {
            record.scheme = .sigv4
            record.region = signature.region
            record.service = signature.service
            record.secret = try password(for: login, paths)
        } else {
            if digest { record.scheme = .digest }
            record.password = try password(for: login, paths)
        }
        return record
    }

    /// The proxy that the options describe. `*` without a proxy means no proxy, not even the profile's.
    func proxySettings() throws(CommandFailure) -> Patch<ProxyRecord> {
        if directHosts == "*", proxy == nil { return .clear }
        guard let proxy else { return .unchanged }
        var record = ProxyRecord(url: proxy)
        if let directHosts {
            record.form.noProxy = directHosts.split(separator: ",").map { String($0.filter { $0 != " " }) }
        }
        if let proxyUser {
            let option = "--proxy-password-file"
            let password =
                if let proxyPasswordFile {
                    try Self.firstLine(of: proxyPasswordFile, option: option)
                } else {
                    try Self.readPassword(proxyUser, "--proxy-user", file: option)
                }
            record.form.credential = CredentialRecord(user: proxyUser, password: password)
            if proxyDigest { record.form.credential?.scheme = .digest }
        }
        if proxyNegotiate {
            record.form.credential = CredentialRecord()
            record.form.credential?.scheme = .negotiate
        }
        return .set(record)
    }

    /// Reads the password from `--password-from` or `--password-file`, otherwise from the terminal. The command line
    /// cannot contain it, because every user of the machine can read it there.
    private func password(for login: String, _ paths: PathResolver) throws(CommandFailure) -> SecretText {
        if let passwordFrom { return passwordFrom.secret(paths) }
        if let passwordFile { return .value(try Self.firstLine(of: passwordFile, option: "--password-file")) }
        return .value(try Self.readPassword(login, "-u", file: "--password-file"))
    }

    private static func readPassword(
        _ login: String, _ option: String, file: String
    ) throws(CommandFailure) -> String {
        switch PasswordPrompt.readPassword("Password for \(SafeText.sanitised(login)): ") {
        case .entered(let password): return password
        case .interrupted: throw CommandFailure(.interrupted, "interrupted; nothing was added")
        case .unavailable:
            throw .usage(
                "\(option): there is no terminal for the password prompt; "
                    + "use \(file) FILE (- is standard input)")
        }
    }

    private static func firstLine(of file: String, option: String) throws(CommandFailure) -> String {
        String(try FileText.read(file, option: option).prefix { !$0.isNewline })
    }

    private static var home: String? { getenv("HOME").map { String(cString: $0) } }
}
