import Testing
import XferCore
import XferModel
import XferTestSupport

/// AFNetworking's tests of request and response serializers. The names say the class and the case.
@Suite struct SerializationConformanceTests {
    struct Request: Sendable {
        var method = HTTPMethod.get
        var target = "/f"
        var parameters: [Parameter]
        /// The target and the form that are sent.
        var outcome: (target: String, form: String?)
    }

    private static func query(_ parameters: Parameter..., sent: String, after target: String = "/f") -> Request {
        Request(target: target, parameters: parameters, outcome: (sent, nil))
    }

    static let requests: [ConformanceCase<Request>] = [
        .same(
            "AFURLRequestSerialization query",
            query(Parameter("tag", .text("x&y")), Parameter("name", .text("a b")), sent: "/f?name=a%20b&tag=x%26y")),
        .same(
            "AFURLRequestSerialization query-appended",
            query(Parameter("b", .text("2")), sent: "/f?a=1&b=2", after: "/f?a=1")),
        .same(
            "AFURLRequestSerialization query-of-delete",
            Request(method: .delete, parameters: [Parameter("b", .text("2"))], outcome: ("/f?b=2", nil))),
        .same(
            "AFURLRequestSerialization form",
            Request(
                method: .post, parameters: [Parameter("k", .text("v w")), Parameter("j", .text("1"))],
                outcome: ("/f", "j=1&k=v%20w"))),
        .same(
            "AFURLRequestSerialization reserved",
            query(Parameter("k", .text("x:#[&=+;'/?")), sent: "/f?k=x%3A%23%5B%26%3D%2B%3B%27/?")),
        .same(
            "AFURLRequestSerialization encoded-before",
            query(Parameter("k", .text("%41 %zz")), sent: "/f?k=%2541%20%25zz")),
        .same(
            "AFURLRequestSerialization nested",
            query(
                Parameter(
                    "o", .object([Parameter("z", .text("1")), Parameter("a", .list([.text("x"), .text("y")]))])),
                sent: "/f?o%5Ba%5D%5B%5D=x&o%5Ba%5D%5B%5D=y&o%5Bz%5D=1")),
        .same("AFURLRequestSerialization null", query(Parameter("k", .null), sent: "/f?k")),
        .same("AFURLRequestSerialization empty-text", query(Parameter("k", .text("")), sent: "/f?k=")),
        .same("AFURLRequestSerialization empty-list", query(Parameter("k", .list([])), sent: "/f")),
        // Flags are of two scalars, and batches of 50 units would cut one.
        .same(
            "AFURLRequestSerialization emoji",
            query(
                Parameter("k", .text(String(repeating: "🇩🇪", count: 40))),
                sent: "/f?k=" + String(repeating: "%F0%9F%87%A9%F0%9F%87%AA", count: 40))),
    ]

    @Test(arguments: requests) func parametersAreSentAsTheSuiteExpects(test: ConformanceCase<Request>) throws {
        let subject = test.subject
        var fields = RequestFields(kind: .data)
        fields.method = subject.method
        fields.parameters = subject.parameters
        let url = HTTPURL(scheme: .https, host: "api.test", port: 443, target: subject.target)
        let built = try RequestBuilder.build(fields, url: url, profile: nil)
        #expect(built.request.url.target == subject.outcome.target)
        let form = subject.outcome.form.map { RequestBuilder.Content.inline(InlineBytes(Array($0.utf8))) }
        #expect(built.content == form)
        let type = built.request.headers.firstValue(named: "Content-Type")
        #expect(type == (form == nil ? nil : "application/x-www-form-urlencoded"))
    }

    struct Response: Sendable {
        var status = 200
        var type: String?
        /// Bytes of the body.
        var length: Int64 = 5
        /// Presets of media types.
        var accepted: [String] = []
        var isAccepted: Bool
    }

    static let responses: [ConformanceCase<Response>] = [
        .same("AFURLResponseSerialization status-200", Response(isAccepted: true)),
        .same("AFURLResponseSerialization status-226", Response(status: 226, isAccepted: true)),
        .same("AFURLResponseSerialization status-299", Response(status: 299, isAccepted: true)),
        .same("AFURLResponseSerialization status-300", Response(status: 300, isAccepted: false)),
        .same("AFURLResponseSerialization status-400", Response(status: 400, isAccepted: false)),
        .same("AFURLResponseSerialization status-499", Response(status: 499, isAccepted: false)),
        .same("AFURLResponseSerialization status-500", Response(status: 500, isAccepted: false)),
        .same("AFURLResponseSerialization status-599", Response(status: 599, isAccepted: false)),
        .same("AFURLResponseSerialization any-type", Response(type: "text/x-odd", isAccepted: true)),
        .same(
            "AFURLResponseSerialization json-application",
            Response(type: "application/json; charset=utf-8", accepted: ["json"], isAccepted: true)),
        .same(
            "AFURLResponseSerialization json-text", Response(type: "text/json", accepted: ["json"], isAccepted: true)),
        .same(
            "AFURLResponseSerialization json-script",
            Response(type: "text/javascript", accepted: ["json"], isAccepted: true)),
        .same(
            "AFURLResponseSerialization json-page", Response(type: "text/html", accepted: ["json"], isAccepted: false)),
        .same(
            "AFURLResponseSerialization json-other",
            Response(type: "application/vnd.odd+json", accepted: ["json"], isAccepted: false)),
        .same(
            "AFURLResponseSerialization json-nothing",
            Response(status: 204, type: nil, length: 0, accepted: ["json"], isAccepted: true)),
        .same("AFURLResponseSerialization json-no-type", Response(accepted: ["json"], isAccepted: false)),
        .same(
            "AFURLResponseSerialization xml-types",
            Response(type: "application/xml", accepted: ["xml"], isAccepted: true)),
        .same(
            "AFURLResponseSerialization xml-text", Response(type: "text/xml", accepted: ["xml"], isAccepted: true)),
        .same(
            "AFURLResponseSerialization xml-other",
            Response(type: "application/json", accepted: ["xml"], isAccepted: false)),
        .same(
            "AFURLResponseSerialization plist-type",
            Response(type: "application/x-plist", accepted: ["plist"], isAccepted: true)),
        .same(
            "AFURLResponseSerialization plist-other",
            Response(type: "text/xml", accepted: ["plist"], isAccepted: false)),
        .same(
            "AFURLResponseSerialization image-png", Response(type: "image/png", accepted: ["image"], isAccepted: true)),
        .same(
            "AFURLResponseSerialization image-other",
            Response(type: "image/x-odd", accepted: ["image"], isAccepted: false)),
        .same(
            "AFURLResponseSerialization compound-second",
            Response(type: "image/gif", accepted: ["json", "image"], isAccepted: true)),
        .same(
            "AFURLResponseSerialization compound-none",
            Response(type: "text/plain", accepted: ["json", "image"], isAccepted: false)),
    ]

    @Test(arguments: responses) func aResponseIsAcceptedAsTheSuiteExpects(test: ConformanceCase<Response>) throws {
        let subject = test.subject
        var fields = [HeaderField(name: "Content-Length", value: "\(subject.length)")]
        if let type = subject.type { fields.append(HeaderField(name: "Content-Type", value: type)) }
        let refusal = ResponseRules.refusal(
            of: ResponseHead(status: subject.status, fields: fields),
            from: HTTPURL(scheme: .https, host: "api.test", port: 443, target: "/f"), acceptedStatus: .success,
            acceptedTypes: try MediaTypePresets.expand(subject.accepted), now: Timestamp(seconds: 0))
        #expect((refusal == nil) == subject.isAccepted, "\(String(describing: refusal))")
    }
}
