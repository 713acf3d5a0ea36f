import CCurl
import XferCore
import XferModel

/// The authentication of a hop's request.
extension Hop {
    /// Sets libcurl's authentication, once the request's fields for this hop are known. `Authorization` is among them
    /// already where it can be sent at once, unless a header rule has removed it.
    func authenticate() throws(TransferError) {
        authentication = HopAuthentication(
            run.credential, hop: url, hasOwnField: sentFields.firstValue(named: "Authorization") != nil)
        switch authentication {
        case .none, .digest:
            break
        case .field:
            authentication = .none
        case .signature(let signer):
            // Every server uses this coding without being asked; libcurl would sort the field before `Accept`.
            sentFields.removeAll { field in
                field.name.equalsIgnoringASCIICase("Accept-Encoding") && field.value == "identity"
            }
            try refuseUnsortable(sentFields)
            let name = "x-amz-content-sha256"
            guard sentFields.firstValue(named: name) == nil else { return }
            sentFields.append(HeaderField(name: name, value: try payloadDigest(for: signer)))
        }
    }

    /// Refuses fields that libcurl would sort wrongly. libcurl 7.88 sorts whole lines, so that `a-b:` comes before
    /// `a:`; no server computes a signature over that order.
    private func refuseUnsortable(_ fields: [HeaderField]) throws(TransferError) {
        let names = Set(fields.map { $0.name.lowercased() })
        for name in names {
            guard let longer = names.first(where: { $0.hasPrefix(name + "-") }) else { continue }
            throw TransferError(
                .authFailed, "\(url.hostKey): the header fields \(name) and \(longer) cannot be signed together",
                host: url.hostKey)
        }
    }

    /// The digest of the content in the form that AWS requires. For content that is read while it is sent, S3 accepts a
    /// keyword instead.
    private func payloadDigest(for signer: RequestSigner) throws(TransferError) -> String {
        switch run.attempt.content {
        case nil: return SHA256Digest.hex(of: [])
        case .bytes(let bytes): return SHA256Digest.hex(of: bytes)
        case .file, .parts:
            guard signer.service == "s3" else {
                throw TransferError(
                    .authFailed,
                    "\(url.hostKey): content from files can be signed for s3 only, not for \(signer.service)",
                    host: url.hostKey)
            }
            return "UNSIGNED-PAYLOAD"
        }
    }

    /// True if libcurl may answer this head by repeating the request.
    func isAnswered(_ head: ResponseHead) -> Bool {
        switch head.status {
        case 401:
            if case .digest = authentication { true } else { false }
        case 407: connection?.session.key.spec.key.proxyLogin.map { $0.scheme != .basic } ?? false
        default: false
        }
    }
}

extension HopAuthentication {
    var isSigned: Bool {
        if case .signature = self { true } else { false }
    }
}

extension EasyHandle {
    /// The request's URL, normalised if the request is signed.
    func url(of request: Request) -> String {
        guard request.authentication.isSigned else { return request.url.string }
        let url = request.url
        return HTTPURL(
            scheme: url.scheme, host: url.host, port: url.port, target: SignableTarget.normalized(url.target)
        ).string
    }

    func setAuthentication(_ authentication: HopAuthentication) {
        switch authentication {
        case .none, .field:
            break
        case .digest(let user, let password):
            set(CURLOPT_HTTPAUTH, Int(xfer_auth_digest))
            set(CURLOPT_USERNAME, user)
            set(CURLOPT_PASSWORD, password)
        case .signature(let signer):
            set(CURLOPT_AWS_SIGV4, "aws:amz:\(signer.region):\(signer.service)")
            set(CURLOPT_USERNAME, signer.keyID)
            set(CURLOPT_PASSWORD, signer.secretKey)
            // A line that removes the field must not be there: it would be signed.
            set(CURLOPT_EXPECT_100_TIMEOUT_MS, 1)
        }
    }
}
