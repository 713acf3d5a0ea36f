import XferCore
import XferModel

/// Kept responses and requests for the tests of caching, at times of their own: nothing reads a clock.
enum Sample {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    static let epoch = Timestamp(seconds: 784_111_777)
    static let url = HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/f")
    static let elsewhere = HTTPURL(scheme: .https, host: "cdn.example.org", port: 443, target: "/f")
    static let digest: KeyedDigest = { $0 }

    static func time(_ seconds: Int64) -> Timestamp { epoch.advanced(by: .seconds(seconds)) }
    static func date(_ seconds: Int64) -> String { HTTPDate.format(time(seconds)) }

    static func fields(_ pairs: [(String, String)]) -> [HeaderField] { pairs.map { HeaderField(name: $0, value: $1) } }

    /// Asked for and received at `epoch`, dated so unless told otherwise.
    static func response(
        _ pairs: (String, String)..., status: Int = 200, asked: Int64 = 0, answered: Int64 = 0,
        finalURL: HTTPURL = url
    ) -> StoredResponse {
        let dated = pairs.contains { $0.0 == "Date" } ? pairs : pairs + [("Date", date(0))]
        return StoredResponse(
            url: url, finalURL: finalURL, status: status, fields: fields(dated.filter { !$0.1.isEmpty }),
            requestTime: time(asked), responseTime: time(answered))
    }

    static func request(_ pairs: (String, String)..., method: HTTPMethod = .get) -> TransferRequest {
        TransferRequest(url: url, method: method, headers: fields(pairs))
    }

    static func head(_ pairs: (String, String)..., status: Int = 200) -> ResponseHead {
        ResponseHead(status: status, fields: fields(pairs))
    }
}

/// A decision's kind, to be compared.
enum Decided: Equatable {
    case use, validate([String]), fetch, miss

    init(_ decision: CacheDecision<StoredResponse>) {
        self =
            switch decision {
            case .use: .use
            case .validate(_, let conditions): .validate(conditions.map(\.name))
            case .fetch: .fetch
            case .miss: .miss
            }
    }
}

extension CachePolicy {
    func decided(
        _ kept: StoredResponse..., asking request: TransferRequest = Sample.request(), at seconds: Int64
    ) -> Decided {
        Decided(
            decide(among: kept, response: { $0 }, requestFields: request.headers, at: Sample.time(seconds)))
    }
}
