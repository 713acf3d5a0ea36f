import Foundation
import StrictJSON
import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

/// As it stands: resolved, the link would be the system's interpreter, without what is installed for the tests.
private let python =
    String(#filePath.prefix(upTo: #filePath.firstRange(of: "/Tests/")?.lowerBound ?? #filePath.startIndex))
    + "/.build/python/bin/python"

/// AWS Signature Version 4, as libcurl makes it and botocore, which is not ours, computes it.
@Suite(.enabled(if: FileTree.exists(python), "needs make packages-test")) struct SignatureTests {
    /// Computes each recorded request's signature again and prints those that differ.
    private static let check = """
        import json, sys
        from botocore.auth import S3SigV4Auth, SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials
        from http.client import HTTPMessage

        for line in sys.stdin:
            r = json.loads(line)
            fields = {k.lower(): v for k, v in r["headers"]}
            given = dict(p.strip().split("=", 1) for p in fields["authorization"].split(" ", 1)[1].split(","))
            class Auth(S3SigV4Auth):
                def headers_to_sign(self, request):
                    kept = HTTPMessage()
                    for name in given["SignedHeaders"].split(";"):
                        kept[name] = fields[name]
                    return kept
                def payload(self, request):
                    return fields["x-amz-content-sha256"]
            request = AWSRequest(method=r["method"], url="http://" + fields["host"] + r["target"])
            for k, v in fields.items():
                if k != "authorization":
                    request.headers[k] = v
            request.context["timestamp"] = fields["x-amz-date"]
            auth = Auth(Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), "s3", "eu-central-1")
            text = auth.string_to_sign(request, auth.canonical_request(request))
            if auth.signature(text, request) != given["Signature"]:
                print(r["method"], r["target"], given["SignedHeaders"])
            for must in ("host", "x-amz-date", "x-amz-content-sha256"):
                if must not in given["SignedHeaders"].split(";"):
                    print("unsigned", must, r["target"])
            if "user-agent" not in fields or "user-agent" in given["SignedHeaders"].split(";"):
                print("user-agent missing or signed", r["target"])
        """

    private func attempt(_ url: String, _ change: (inout Attempt) -> Void = { _ in }) throws -> Attempt {
        try Attempt.get(url) { attempt in
            attempt.credential = ResolvedCredential(
                scheme: .awsSigV4(region: "eu-central-1", service: "s3"), user: "AKIDEXAMPLE",
                secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", origins: [attempt.request.url.origin])
            change(&attempt)
        }
    }

    @Test func signaturesEqualThoseOfBotocore() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let harness = try Harness()
        let targets = [
            "/", "/bucket/key", "/bucket/key?uploads", "/bucket?list-type=2&prefix=a/b&delimiter=/", "/b/a%20b/%C3%A4",
            "/b/(x)!*'$&+,;=:@", "/b/%7e%41", "/?b=2&a=1&a=0&a-b=3", "/b?x=%2F&y=a+b&z=", "/b/k?versionId=3~._-",
            "/b/k?partNumber=2&uploadId=VXBsb2FkIElE%3D%3D", "/b/%E4%B8%80?q=%E4%BA%8C",
        ]
        for target in targets {
            #expect(try await harness.run(attempt(server.url(target))).outcome.result == .complete, "\(target)")
        }
        let fields = [
            HeaderField(name: "X-Amz-Security-Token", value: "FwoGZXIvYXdzE//////////wEaD+=="),
            HeaderField(name: "Accept", value: "text/plain;q=0.5,  text/html"), HeaderField(name: "X-Empty", value: ""),
            HeaderField(name: "x-amz-meta-b", value: "two  words"), HeaderField(name: "X-Amz-Meta-A", value: "1"),
        ]
        let signed = try await harness.run(attempt(server.url("/b/k")) { $0.request.headers = fields })
        #expect(signed.outcome.result == .complete)
        let resumed = try await harness.run(
            attempt(server.url("/b/k")) { attempt in
                attempt.resumeData = ResumeData(
                    validators: Validators(etag: "\"a\""), segments: [Segment(start: 0, committed: 5)])
            })
        #expect(resumed.events.isEmpty == false)
        let lines = try server.requests.map { request in
            let headers = request.headers.map { [$0.name, $0.value] }
            let object: [String: Any] = ["method": request.method, "target": request.target, "headers": headers]
            return String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        }
        #expect(lines.count == targets.count + 2)
        let result = try await Command.run(python, ["-c", Self.check], input: lines.joined(separator: "\n"))
        #expect(result.isSuccess && result.output.isEmpty, "\(result)")
        #expect(server.requests.allSatisfy { !($0.header("Authorization") ?? "").contains("EXAMPLEKEY") })
    }

    @Test func aRedirectToAnotherOriginIsNotSigned() async throws {
        let (home, other) = (try await FaultServer(), try await FaultServer())
        let away = other.url("/b")
        home.on("/a") { _ in .redirect(to: away) }
        other.on("/b") { _ in Reply(200, text: "end") }
        #expect(try await Harness().run(attempt(home.url("/a"))).outcome.result == .complete)
        #expect(home.requests[0].header("Authorization")?.hasPrefix("AWS4-HMAC-SHA256 ") == true)
        for name in ["Authorization", "x-amz-date", "x-amz-content-sha256"] {
            #expect(other.requests[0].header(name) == nil, "\(name)")
        }
    }
}
