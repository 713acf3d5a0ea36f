import Testing
import XferCore
import XferModel

/// RFC 9111 §3: what is kept.
@Suite struct StorabilityTests {
    private func isKept(
        _ pairs: (String, String)..., status: Int = 200, request: TransferRequest = Sample.request()
    ) -> Bool {
        Storability.refusal(
            of: request, sent: request.headers, answeredBy: ResponseHead(status: status, fields: Sample.fields(pairs)))
            == nil
    }

    @Test(arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func aResponseWithAHeuristicallyCacheableStatusIsStored(_ status: Int) { #expect(isKept(status: status)) }

    @Test(arguments: [201, 202, 205, 302, 303, 307, 400, 401, 403, 408, 429, 500, 502, 503])
    func aResponseWithAnotherStatusIsStoredOnlyWithExplicitFreshness(_ status: Int) {
        #expect(!isKept(status: status))
        #expect(isKept(("Cache-Control", "max-age=5"), status: status))
        #expect(isKept(("Expires", Sample.date(9)), status: status))
        #expect(isKept(("Cache-Control", "public"), status: status))
        #expect(isKept(("Cache-Control", "private"), status: status))
        #expect(!isKept(("Cache-Control", "s-maxage=5"), status: status))
    }

    @Test(arguments: [100, 103, 206, 304]) func aPartialOrInterimResponseIsNotStored(_ status: Int) {
        #expect(!isKept(("Cache-Control", "max-age=500"), status: status))
    }

    @Test func noStoreOfEitherSideForbidsStoring() {
        #expect(!isKept(("Cache-Control", "no-store, max-age=5")))
        #expect(!isKept(request: Sample.request(("cache-control", "No-Store"))))
    }

    @Test func mustUnderstandOverridesNoStore() {
        #expect(isKept(("Cache-Control", "must-understand, no-store, max-age=5")))
        #expect(!isKept(("Cache-Control", "must-understand, no-store, max-age=5"), status: 299))
    }

    @Test func privateAndAuthorizedResponsesAreStored() {
        #expect(isKept(("Cache-Control", "private"), request: Sample.request(("Authorization", "Bearer x"))))
    }

    @Test func aNoCacheResponseIsStoredForRevalidation() { #expect(isKept(("Cache-Control", "no-cache"))) }

    @Test func aResponseThatVariesInUnknownWaysIsNotStored() {
        #expect(!isKept(("Vary", "*")))
        #expect(!isKept(("Vary", "Accept, *")))
        #expect(isKept(("Vary", "Cookie")))
        var jar = Sample.request()
        jar.usesCookies = true
        #expect(!isKept(("Vary", "Cookie"), request: jar))
        var head = ResponseHead(status: 200, fields: Sample.fields([("Vary", "Cookie")]))
        head.followsCookies = true
        #expect(Storability.refusal(of: Sample.request(), sent: [], answeredBy: head) != nil)
    }

    @Test(arguments: [HTTPMethod.head, .post, .put, .patch, .delete]) func onlyResponsesToGETAreStored(
        _ method: HTTPMethod
    ) {
        #expect(!isKept(("Cache-Control", "max-age=5"), request: Sample.request(method: method)))
    }

    @Test(arguments: ["If-None-Match", "if-modified-since", "If-Match", "If-Unmodified-Since", "If-Range", "Range"])
    func aRequestWithConditionsOfTheClientIsNotStored(_ name: String) {
        #expect(!isKept(("Cache-Control", "max-age=5"), request: Sample.request((name, "\"x\""))))
    }

    @Test func connectionFieldsAreNotStored() {
        let fields = Sample.fields([
            ("Connection", "close, X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "5"), ("Transfer-Encoding", "chunked"),
            ("Proxy-Authenticate", "Basic"), ("Set-Cookie", "secret=1"), ("ETag", "\"a\""), ("Upgrade", "h2c"),
        ])
        #expect(Storability.keptFields(of: fields).map(\.name) == ["ETag"])
    }

    @Test func anUnrequestedPartIsNotStoredAsTheWhole() {
        let part = Sample.head(
            ("ETag", "\"a\""), ("Content-Range", "bytes 0-9/10"), ("Content-Length", "10"), status: 206)
        #expect(Storability.combined(part, length: 10, isCombined: false) == nil)
    }

    @Test func partsOfOneVersionAreCombinedIntoAWhole() throws {
        let part = Sample.head(
            ("ETag", "\"a\""), ("Content-Range", "bytes 5-9/10"), ("Content-Length", "5"), status: 206)
        let whole = try #require(Storability.combined(part, length: 10, isCombined: true))
        #expect(whole.status == 200 && whole.contentLength == 10 && whole.value("Content-Range") == nil)
        #expect(
            Storability.combined(Sample.head(("ETag", "W/\"a\""), status: 206), length: 10, isCombined: true) == nil)
        #expect(Storability.combined(Sample.head(status: 206), length: 10, isCombined: true) == nil)
        #expect(Storability.combined(Sample.head(("A", "b")), length: 10, isCombined: false) == Sample.head(("A", "b")))
    }
}
