import XferModel
import XferTestSupport

@testable import XferCurl

/// Chains with every defect, and what is true of them by the way they were made, not by what OpenSSL says.
struct ChainCorpus {
    struct Entry {
        let name: String
        let sent: [Certificate]
        /// Validates to the system's authority, dates and purpose included.
        let isValid: Bool
        let namesHost: Bool
        /// The certificates from the leaf to the root it was really signed by.
        let path: [TestCertificate]
        /// The dates of the leaf are good and it is for servers.
        let isLeafGood: Bool

        var leaf: TestCertificate { path[0] }

        /// Whether a chain from the leaf to this anchor is valid: it is on the way up, and all below it is good.
        func isValid(toAnchor certificate: TestCertificate) -> Bool { isLeafGood && path.contains(certificate) }
    }

    let host = "localhost"
    let entries: [Entry]
    /// What policies may pin, by name: of each certificate that occurs, its bytes or its key.
    let certificates: [(name: String, certificate: TestCertificate)]

    init(authority: TestCA) throws {
        let via = try authority.intermediate()
        let stranger = try TestCA(name: "stranger")
        // The same name as the authority, another key.
        let impostor = try TestCA()
        let good = try via.issue()
        let root = authority.certificate
        let viaCertificate = via.certificate
        var renewed = TestCA.Leaf()
        renewed.privateKey = good.privateKey
        let again = try via.issue(renewed)
        let other = try via.issue()

        func entry(
            _ name: String, _ leaf: TestCertificate, _ issuers: [TestCertificate], isValid: Bool = true,
            namesHost: Bool = true, isLeafGood: Bool = true, extra: [TestCertificate] = []
        ) throws -> Entry {
            // Roots are not sent.
            let sent = [leaf] + issuers.dropLast() + extra
            return Entry(
                name: name, sent: try sent.map { try $0.parsed }, isValid: isValid, namesHost: namesHost,
                path: [leaf] + issuers, isLeafGood: isLeafGood)
        }
        let chain = [viaCertificate, root]
        let selfSigned = try TestCA.selfSigned()
        entries = try [
            entry("good", good, chain),
            entry("renewed key kept", again, chain),
            entry("other key", other, chain),
            entry("wrong host", via.issue(.wrongHost), chain, namesHost: false),
            entry("expired", via.issue(.expired), chain, isValid: false, isLeafGood: false),
            entry("not yet valid", via.issue(.notYetValid), chain, isValid: false, isLeafGood: false),
            entry("client only", via.issue(.clientOnly), chain, isValid: false, isLeafGood: false),
            entry("self-signed", selfSigned, [], isValid: false),
            entry("unknown authority", stranger.issue(), [stranger.certificate], isValid: false),
            entry("impostor authority", impostor.issue(), [impostor.certificate], isValid: false),
            entry("good with a stranger's certificate", good, chain, extra: [selfSigned, stranger.certificate]),
            entry("other key, pinned ones stuffed in", other, chain, extra: [good, again, selfSigned]),
            entry(
                "unknown authority, pinned ones stuffed in", stranger.issue(), [stranger.certificate], isValid: false,
                extra: [good, viaCertificate, root]),
        ]
        certificates = [
            ("leaf", good), ("renewed", again), ("intermediate", viaCertificate), ("root", root),
            ("self-signed", selfSigned), ("stranger", stranger.certificate), ("impostor", impostor.certificate),
        ]
    }
}
