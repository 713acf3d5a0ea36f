import Testing
import XferModel

@Suite struct PinTests {
    private let digest = (0..<32).map { UInt8($0) }

    @Test func aWrittenKeyPinParsesToItself() throws {
        let pin = try #require(KeyPin(digest: digest))
        #expect(pin.description == "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        #expect(try KeyPin(pin.description) == pin)
    }

    @Test(arguments: [
        ("", KeyPinError.noAlgorithm), ("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", .noAlgorithm),
        ("sha1/AAECAwQFBgcICQoLDA0ODxAREhM=", .unknownAlgorithm("sha1")), ("SHA256/AAAA", .unknownAlgorithm("SHA256")),
        ("sha256/", .wrongLength(0)), ("sha256/AAECAw==", .wrongLength(4)), ("sha256/AAECAw", .notBase64),
        ("sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", .notBase64),
        ("sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gAA==", .wrongLength(34)),
        ("sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8= ", .notBase64),
        ("sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=", .notBase64),
    ])
    func aTextThatIsNoKeyPinIsRefused(text: String, error: KeyPinError) { #expect(throws: error) { try KeyPin(text) } }

    @Test func tlsVersionsAreOrdered() { #expect(TLSVersion.tls12 < TLSVersion.tls13) }
}
