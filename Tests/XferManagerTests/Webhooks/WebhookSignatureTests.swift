import Testing

@testable import XferManager

@Suite struct WebhookSignatureTests {
    /// `printf %s '1767268800.{"type":"webhook.test"}' | openssl dgst -sha256 -hmac geheim`.
    @Test func theSignatureIsTheHMACOfTimestampAndBody() {
        let body = Array("{\"type\":\"webhook.test\"}".utf8)
        #expect(
            WebhookSignature.value(of: body, timestamp: "1767268800", secret: "geheim")
                == "v1=e16d8f31c762a32c1d24328126d52017a0ff0bc6a14a6190331bc7b326aae41d")
        let other = WebhookSignature.value(of: body, timestamp: "1767268801", secret: "geheim")
        #expect(other?.hasPrefix("v1=") == true && other?.utf8.count == 67)
        #expect(other != WebhookSignature.value(of: body, timestamp: "1767268800", secret: "geheim"))
    }
}
