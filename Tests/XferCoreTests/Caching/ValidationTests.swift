import Testing
import XferCore
import XferModel

/// RFC 9111 §4.3 and §3.2: asking about a kept response, and taking the answer over.
@Suite struct ValidationTests {
    private func renewed(
        _ kept: StoredResponse, by pairs: (String, String)..., from url: HTTPURL = Sample.url, key: CacheKeyRule? = nil
    ) -> StoredResponse? {
        Validation.renewed(
            kept, by: ResponseHead(status: 304, fields: Sample.fields(pairs)), from: url, key: key,
            requestTime: Sample.time(50), responseTime: Sample.time(51))
    }

    @Test func aRevalidationIsConditionalOnTagAndDate() {
        let kept = Sample.response(("ETag", "W/\"a\""), ("Last-Modified", Sample.date(-9)))
        #expect(
            Validation.conditions(for: kept)
                == Sample.fields([("If-None-Match", "W/\"a\""), ("If-Modified-Since", Sample.date(-9))]))
        #expect(Validation.conditions(for: Sample.response()).isEmpty)
    }

    @Test func aRevalidationRenewsFieldsExceptThoseOfTheContent() throws {
        let kept = Sample.response(
            ("ETag", "\"a\""), ("Content-Length", "10"), ("Content-Type", "a/b"), ("X-Old", "stays"), ("Age", "9"),
            ("Cache-Control", "max-age=1"), ("Cache-Control", "private"))
        let new = try #require(
            renewed(
                kept, by: ("ETag", "\"a\""), ("Content-Length", "0"), ("Content-Type", "text/html"),
                ("Content-Encoding", "gzip"), ("Cache-Control", "max-age=60"), ("Date", Sample.date(50)),
                ("Connection", "close"), ("Set-Cookie", "a=b")))
        let head = new.head
        #expect(head.contentLength == 10 && head.mediaType == "a/b" && head.contentEncoding == nil)
        #expect(head.value("X-Old") == "stays" && head.value("Cache-Control") == "max-age=60")
        #expect(head.value("Age") == nil && head.value("Connection") == nil && head.value("Set-Cookie") == nil)
        #expect(head.date == Sample.date(50) && new.requestTime == Sample.time(50))
        #expect(Freshness(of: new, at: Sample.time(60)).isFresh)
    }

    @Test func a304ForAnotherVersionIsIgnored() {
        let kept = Sample.response(("ETag", "\"a\""), ("Last-Modified", Sample.date(-9)))
        #expect(renewed(kept, by: ("ETag", "\"b\"")) == nil)
        #expect(renewed(kept, by: ("ETag", "W/\"a\"")) != nil)
        #expect(renewed(kept, by: ("Last-Modified", Sample.date(-8))) == nil)
        #expect(renewed(kept, by: ("Last-Modified", Sample.date(-9))) != nil)
        #expect(renewed(kept) != nil)
        #expect(renewed(Sample.response(("Last-Modified", Sample.date(-9))), by: ("ETag", "\"a\"")) == nil)
    }

    @Test func a304FromAnotherURLIsIgnored() {
        let kept = Sample.response(("ETag", "\"a\""), finalURL: Sample.elsewhere)
        #expect(renewed(kept, by: ("ETag", "\"a\""), from: Sample.url) == nil)
        #expect(renewed(kept, by: ("ETag", "\"a\""), from: Sample.elsewhere) != nil)
        #expect(renewed(kept, by: ("ETag", "\"a\""), from: Sample.url, key: CacheKeyRule(host: "mirrors")) != nil)
    }
}

/// RFC 9111 §4.4: what a change makes doubtful.
@Suite struct InvalidationTests {
    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete]) func unsafeMethodsInvalidateResponsesOfTheirOrigin(
        _ method: HTTPMethod
    ) {
        let other = HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/g")
        #expect(
            Invalidation.targets(
                of: method, url: Sample.url, status: 201, named: [other, Sample.elsewhere, Sample.url])
                == [Sample.url, other])
        #expect(Invalidation.targets(of: method, url: Sample.url, status: 303, named: []) == [Sample.url])
        #expect(Invalidation.targets(of: method, url: Sample.url, status: 404, named: [other]).isEmpty)
        #expect(Invalidation.targets(of: method, url: Sample.url, status: 500, named: []).isEmpty)
    }

    @Test(arguments: [HTTPMethod.get, .head]) func safeMethodsInvalidateNothing(_ method: HTTPMethod) {
        #expect(Invalidation.targets(of: method, url: Sample.url, status: 200, named: []).isEmpty)
    }
}
