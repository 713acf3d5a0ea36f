import Testing
import XferModel
import XferTestSupport

@testable import XferCurl

@Suite struct PinReaderTests {
    private let authority: TestCA
    private let leaf: TestCertificate

    init() throws {
        authority = try TestCA()
        leaf = try authority.issue()
    }

    @Test func aPinIsADigestOrCertificates() throws {
        #expect(try PinReader.pins(inText: leaf.keyPin) == [leaf.asKeyPin])
        #expect(try PinReader.pins(inText: leaf.certificate) == [leaf.asPin])
        let both = "  \n" + leaf.certificate + "\n" + authority.pem
        #expect(try PinReader.pins(inText: both) == [leaf.asPin, authority.certificate.asPin])
        #expect(try PinReader.pins(inFile: Array(both.utf8)) == [leaf.asPin, authority.certificate.asPin])
        #expect(try PinReader.pins(inFile: leaf.der) == [leaf.asPin])
    }

    @Test func aCertificatePinHasItsKeyAndItsExpiry() throws {
        guard case .certificate(let pin)? = try PinReader.pins(inFile: leaf.der).first else {
            Issue.record("no certificate")
            return
        }
        #expect(pin.key.description == leaf.keyPin)
        #expect(pin.der == leaf.der)
        let seconds = TrustFixture.now.duration(to: pin.notAfter).inSeconds
        #expect(abs(seconds - 86_400) < 600)
    }

    @Test func opensslComputesTheSameKeyDigest() async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write(leaf.certificate, to: directory.file("leaf"))
        let openssl = try #require(Command.find("openssl"))
        let key = try await Command.run(openssl, ["x509", "-in", directory.file("leaf"), "-noout", "-pubkey"])
        try FileTree.write(key.output, to: directory.file("key"))
        let der = ["pkey", "-pubin", "-in", directory.file("key"), "-outform", "DER", "-out", directory.file("der")]
        #expect(try await Command.run(openssl, der).isSuccess)
        let digest = try await Command.run(openssl, ["dgst", "-sha256", "-r", directory.file("der")])
        let pin = try leaf.parsed.key
        let hex = pin.digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(digest.output.hasPrefix(hex))
    }

    @Test func aPEMCertificateIsWrittenAsItWasRead() throws {
        #expect(try leaf.parsed.pem == leaf.certificate)
    }

    @Test func aTextThatIsNoPinIsRefused() throws {
        func error(_ text: String) -> PinError? {
            let error = #expect(throws: PinError.self) { try PinReader.pins(inText: text) }
            return error
        }
        #expect(error("") == .badKeyPin(.noAlgorithm))
        #expect(error("sha256/AAAA") == .badKeyPin(.wrongLength(3)))
        #expect(error(leaf.privateKey) == .privateKey)
        #expect(error(leaf.certificate + leaf.privateKey) == .privateKey)
        #expect(
            error("-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" + leaf.privateKey)
                == .privateKey)
        #expect(error("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n") == .otherBlock("PUBLIC KEY"))
        #expect(error("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n") == .badCertificate(index: 0))
        #expect(
            error(authority.pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
                == .badCertificate(index: 1))
        #expect(error(String(repeating: "a", count: 1 << 20 + 1)) == .tooLarge)
        let cut = String(leaf.certificate.prefix(200))
        guard case .badPEM = error(cut) else {
            Issue.record("a certificate that was cut off")
            return
        }
    }

    @Test func aFileThatIsNoPinFileIsRefused() throws {
        func error(_ bytes: [UInt8]) -> PinError? {
            let error = #expect(throws: PinError.self) { try PinReader.pins(inFile: bytes) }
            return error
        }
        #expect(error([]) == .noCertificate)
        #expect(error(Array("hello".utf8)) == .noCertificate)
        #expect(error(Array(leaf.der.dropLast())) == .noCertificate)
        #expect(error(leaf.der + [0]) == .noCertificate)
        let lines = leaf.privateKey.split(separator: "\n").dropFirst().dropLast().joined()
        #expect(error(try #require(Base64.decode(lines))) == .privateKey)
        #expect(error(Array(leaf.privateKey.utf8)) == .privateKey)
    }

    @Test func errorsContainNoSecrets() throws {
        let secret = try #require(leaf.privateKey.split(separator: "\n").dropFirst().first)
        for text in [leaf.privateKey, "sha256/" + secret, String(secret)] {
            let error = #expect(throws: PinError.self) { try PinReader.pins(inText: text) }
            #expect(error?.description.contains(secret) == false)
        }
    }

    /// OpenSSL parses such a certificate and leaves its dates as they are.
    @Test func aCertificateWithUnreadableDatesIsValidAtNoTimeAndIsShown() throws {
        var der = leaf.der
        // UTCTime (tag 0x17) of thirteen characters: notBefore, then notAfter.
        let dates = der.indices.dropLast(15).filter { der[$0] == 0x17 && der[$0 + 1] == 13 && der[$0 + 14] == 0x5A }
        try #require(dates.count == 2)
        for start in dates { der.replaceSubrange(start + 2..<start + 14, with: Array("999999999999".utf8)) }
        let certificate = try #require(Certificate(der: der))
        #expect(certificate.notAfter <= Timestamp(seconds: 0) && certificate.notBefore >= TrustFixture.now)
        #expect(certificate.notBefore.description == "9999-12-31T23:59:59.999Z")
        #expect(certificate.notAfter.description == "0000-01-01T00:00:00.000Z")
        #expect(certificate.pin.notAfter == certificate.notAfter)
    }
}
