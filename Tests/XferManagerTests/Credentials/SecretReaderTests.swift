import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferManager

@Suite struct SecretReaderTests {
    private let directory: TemporaryDirectory
    private let credentials: String
    private let reader: SecretReader

    init() throws {
        directory = try TemporaryDirectory("xfer-secrets")
        credentials = try directory.makeDirectory("credentials")
        reader = SecretReader(
            credentialsDirectory: credentials, environment: ["TOKEN": "from-environment", "EMPTY": ""])
    }

    private func write(_ text: String, mode: mode_t = 0o600, below: String? = nil) throws -> String {
        let path = "\(below ?? directory.path)/secret"
        try FileTree.write(text, to: path, mode: mode)
        chmod(path, mode)
        return path
    }

    private func fault(_ secret: Secret) -> String {
        do throws(SecretFault) {
            return "read: \(try reader.read(secret))"
        } catch {
            return error.description
        }
    }

    @Test func secretsAreReadFromTheirNamedSource() throws {
        #expect(try reader.read(.value("given")) == "given")
        #expect(try reader.read(.environment("TOKEN")) == "from-environment")
        #expect(try reader.read(.environment("EMPTY")) == "")
        #expect(try reader.read(.file(write("from-file"))) == "from-file")
        _ = try write("from-systemd", mode: 0o400, below: credentials)
        #expect(try reader.read(.systemdCredential("secret")) == "from-systemd")
    }

    @Test(arguments: [
        ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a", "a"), ("\n", ""), ("", ""), (" a \n", " a "),
    ])
    func oneNewlineAtTheEndOfASecretIsDropped(text: String, secret: String) throws {
        #expect(try reader.read(.file(write(text))) == secret)
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o644, 0o601] as [mode_t])
    func aSecretFileThatOthersMayReadIsRefused(mode: mode_t) throws {
        let text = fault(.file(try write("s3cret", mode: mode)))
        #expect(text.contains("has mode") && !text.contains("s3cret"), "\(text)")
    }

    @Test(.enabled(if: getuid() == 0, "needs root")) func aSystemdCredentialOwnedByRootMayBeReadableByItsGroup() throws
    {
        let path = try write("handed-over", mode: 0o440, below: credentials)
        #expect(try reader.read(.systemdCredential("secret")) == "handed-over")
        chown(path, 12345, 12345)
        #expect(fault(.systemdCredential("secret")).contains("has mode"))
    }

    @Test func aMissingOrInvalidSecretIsNamedInTheError() throws {
        #expect(fault(.file("/nowhere/secret")) == "/nowhere/secret cannot be read: No such file or directory")
        #expect(fault(.file("secret")).contains("not an absolute path"))
        #expect(fault(.file(directory.path)).contains("is not a file"))
        #expect(fault(.environment("NOWHERE")).contains("NOWHERE"))
        for name in ["", ".", "..", "../secret", "a/b"] {
            #expect(fault(.systemdCredential(name)).contains("is not the name"))
        }
        #expect(fault(.systemdCredential("absent")).contains("cannot be read"))
        let none = SecretReader(credentialsDirectory: nil, environment: [:])
        #expect(throws: SecretFault.self) { try none.read(.systemdCredential("secret")) }
        #expect(fault(.file(try write(String(repeating: "x", count: SecretReader.maxBytes + 1)))).contains("larger"))
        try FileTree.write([0xff, 0xfe], to: directory.file("binary"), mode: 0o600)
        #expect(fault(.file(directory.file("binary"))).contains("not UTF-8"))
        mkfifo(directory.file("fifo"), 0o600)
        #expect(fault(.file(directory.file("fifo"))).contains("is not a file"), "and it does not hang")
    }
}
