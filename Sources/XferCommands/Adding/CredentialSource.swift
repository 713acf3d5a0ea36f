import XferProtocol

extension RequestOptions {
    /// User and password for `-u`: from `--password-file`, else asked for on the terminal. Never from the command line,
    /// which everybody on the machine can read.
    func credential() throws(CommandFailure) -> CredentialRecord? {
        guard let login else { return nil }
        if let passwordFile {
            let text = try FileText.read(passwordFile, option: "--password-file")
            let line = text.prefix { !$0.isNewline }
            return CredentialRecord(user: login, password: String(line))
        }
        switch PasswordPrompt.ask("Password for \(SafeText.sanitised(login)): ") {
        case .entered(let password): return CredentialRecord(user: login, password: password)
        case .interrupted: throw CommandFailure(.interrupted, "interrupted; nothing was added")
        case .unavailable:
            throw .usage(
                "-u: there is no terminal to ask for the password on; use --password-file FILE (- is standard input)")
        }
    }
}
