import Testing
import XferCore
import XferModel

private let url = HTTPURL(scheme: .https, host: "api.test", port: 443, target: "/v1/f")

private func build(
    _ kind: TaskKind = .data, profile: Profile? = nil, at url: HTTPURL = url, _ change: (inout RequestFields) -> Void
) throws -> (request: TransferRequest, content: RequestBuilder.Content?) {
    var fields = RequestFields(kind: kind)
    change(&fields)
    return try RequestBuilder.build(fields, url: url, profile: profile)
}

private func fault(_ change: (inout RequestFields) -> Void) -> RequestFault? {
    #expect(throws: RequestFault.self) { try build(.data, change) }
}

private func bytes(_ text: String) -> InlineBytes { InlineBytes(Array(text.utf8)) }

@Suite struct ParameterPlacementTests {
    @Test(arguments: [HTTPMethod.get, .head, .delete])
    func queryMethodsHaveThemInTheQuery(method: HTTPMethod) throws {
        let built = try build {
            $0.method = method
            $0.parameters = [Parameter("b", .text("2")), Parameter("a", .text("1"))]
        }
        #expect(built.request.url.target == "/v1/f?a=1&b=2")
        #expect(built.content == nil)
    }

    @Test(arguments: [("/f?x=1", "/f?x=1&a=1"), ("/f?", "/f?a=1"), ("/f?x=1&", "/f?x=1&a=1")])
    func parametersAreAppendedToAnExistingQuery(target: String, expected: String) throws {
        let built = try build(at: HTTPURL(scheme: .http, host: "h", port: 80, target: target)) {
            $0.parameters = [Parameter("a", .text("1"))]
        }
        #expect(built.request.url.target == expected)
    }

    @Test func withoutParametersNoQueryIsAppended() throws {
        #expect(try build { $0.parameters = [] }.request.url.target == "/v1/f")
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch])
    func otherMethodsSendThemAsAForm(method: HTTPMethod) throws {
        let built = try build {
            $0.method = method
            $0.parameters = [Parameter("a", .list([.text("1")]))]
        }
        #expect(built.request.url.target == "/v1/f")
        #expect(built.content == .inline(bytes("a%5B%5D=1")))
        #expect(built.request.headers.firstValue(named: "content-type") == "application/x-www-form-urlencoded")
    }

    @Test func emptyParametersAreSentAsAnEmptyForm() throws {
        let built = try build { $0.content = .form([]) }
        #expect(built.content == .inline(bytes("")))
        #expect(built.request.method == .post)
        #expect(built.request.headers == [HeaderField(name: "Content-Type", value: FormEncoding.mediaType)])
    }

    @Test func parametersBesidePartsBecomeParts() throws {
        let part = RequestPart(name: "file", content: .bytes(bytes("x")))
        let built = try build {
            $0.method = .post
            $0.parameters = [Parameter("a", .null)]
            $0.content = .parts([part])
        }
        #expect(built.content == .parts([RequestPart(name: "a", content: .bytes(bytes(""))), part]))
    }

    @Test func parametersBesideAnotherContentAreRefused() {
        let refused = fault {
            $0.parameters = []
            $0.content = .json(bytes("{}"))
        }
        #expect(refused?.field == "params")
    }

    @Test func theClientsContentTypeIsKept() throws {
        let built = try build {
            $0.headers = [HeaderField(name: "content-TYPE", value: "application/vnd.api+json")]
            $0.content = .json(bytes("{}"))
        }
        #expect(built.request.headers == [HeaderField(name: "content-TYPE", value: "application/vnd.api+json")])
    }

    @Test func contentWithGetIsRefused() {
        let refused = fault {
            $0.method = .get
            $0.content = .json(bytes("{}"))
        }
        #expect(refused?.field == "body")
    }

    @Test func theMethodFollowsFromTheContent() throws {
        let file = RequestContent.file(FileReference(path: "/f", field: "source"))
        func method(_ kind: TaskKind, _ content: RequestContent?, _ spoken: UploadProtocol = .plain) throws
            -> HTTPMethod
        {
            try build(kind) {
                $0.content = content
                $0.uploadProtocol = spoken
            }.request.method
        }
        #expect(try method(.download, nil) == .get)
        #expect(try method(.data, .json(bytes("1"))) == .post)
        #expect(try method(.upload, file) == .put)
        #expect(try method(.upload, file, .tus) == .post)
        #expect(try method(.upload, .parts([])) == .post)
    }
}

@Suite struct ProfileMergingTests {
    private var profile: Profile {
        var profile = Profile(name: "api")
        profile.baseURL = HTTPURL(scheme: .https, host: "api.test", port: 443, target: "/v1/")
        profile.headers = [
            HeaderField(name: "X-A", value: "profile"), HeaderField(name: "X-B", value: "1"),
            HeaderField(name: "X-B", value: "2"),
        ]
        profile.languages = ["de", "en"]
        profile.credential = Credential(user: "u", password: "p")
        profile.redirect = .deny
        profile.idleTimeout = 7
        profile.acceptedStatus = StatusSet(200...201)
        profile.acceptedTypes = ["json"]
        profile.keepsCookies = true
        profile.proxy = ProxySettings(url: "http://proxy.test:3128")
        return profile
    }

    @Test func unsetFieldsComeFromTheProfile() throws {
        let request = try build(profile: profile) { _ in }.request
        #expect(request.redirect == .deny)
        #expect(request.timeouts == Timeouts(connect: 30, idle: 7, total: 0))
        #expect(request.acceptedStatus == StatusSet(200...201))
        #expect(request.acceptedTypes == ["application/json", "text/json", "text/javascript"])
        #expect(request.usesProfileCredential && request.credential == nil)
        #expect(request.usesCookies && !request.refusesCookies)
        #expect(request.proxy == profile.proxy)
        #expect(
            request.headers
                == profile.headers + [HeaderField(name: "Accept-Language", value: "de;q=1.0, en;q=0.9")])
    }

    @Test func fieldsOfTheTaskOverrideTheProfile() throws {
        let request = try build(profile: profile) {
            $0.headers = [HeaderField(name: "x-b", value: "mine"), HeaderField(name: "Accept-Language", value: "fr")]
            $0.redirect = .set(.follow)
            $0.idleTimeout = .set(0)
            $0.acceptedTypes = .set([])
            $0.usesCookies = .set(false)
            $0.credential = .set(Credential(user: "me", password: "x"))
        }.request
        #expect(request.redirect == .follow)
        #expect(request.timeouts.idle == 0)
        #expect(request.acceptedTypes == [])
        #expect(!request.usesCookies && request.refusesCookies)
        #expect(request.credential == Credential(user: "me", password: "x"))
        #expect(request.headers.map(\.name) == ["x-b", "Accept-Language", "X-A"])
    }

    @Test func nullUnsetsFieldsOfTheProfile() throws {
        let request = try build(.download, profile: profile) {
            $0.redirect = .clear
            $0.idleTimeout = .clear
            $0.acceptedStatus = .clear
            $0.acceptedTypes = .clear
            $0.credential = .clear
            $0.usesCookies = .clear
            $0.proxy = .clear
            $0.unsetHeaders = ["x-B", "Accept-Language"]
        }.request
        #expect(request == TransferRequest(url: url, headers: [HeaderField(name: "X-A", value: "profile")]))
    }

    @Test func credentialAndCertificateAreUnsetEachByItself() throws {
        var profile = profile
        profile.clientCertificate = ClientCertificateFiles(certificate: "/c.pem", key: "/k.pem")
        func uses(_ change: (inout RequestFields) -> Void) throws -> [Bool] {
            let request = try build(profile: profile, change).request
            return [request.usesProfileCredential, request.usesProfileCertificate]
        }
        #expect(try uses { _ in } == [true, true])
        #expect(try uses { $0.credential = .clear } == [false, true])
        #expect(try uses { $0.clientCertificate = .clear } == [true, false])
        #expect(try uses { $0.credential = .set(Credential(user: "me", password: "x")) } == [false, true])
        let own = ClientCertificateFiles(certificate: "/own.pem", key: "/own.key")
        #expect(try uses { $0.clientCertificate = .set(own) } == [true, false])
    }

    @Test func dataTasksHaveAShorterIdleTimeout() throws {
        #expect(try build(.data) { _ in }.request.timeouts.idle == 15)
        #expect(try build(.download) { _ in }.request.timeouts.idle == 60)
        #expect(try build(.upload) { _ in }.request.timeouts.idle == 60)
    }

    @Test func aFormIsWrittenInItsCharset() throws {
        // Latin-1 is the first 256 code points.
        let latin1: TextEncoding = { text, charset in
            guard charset == .latin1, text.unicodeScalars.allSatisfy({ $0.value < 256 }) else { return nil }
            return text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        }
        func form(_ text: String) throws -> (request: TransferRequest, content: RequestBuilder.Content?) {
            var fields = RequestFields(kind: .data)
            fields.content = .form([Parameter("ä b", .text(text)), Parameter("z", .null)], charset: .latin1)
            return try RequestBuilder.build(fields, url: url, encoding: latin1)
        }
        let built = try form("é?")
        #expect(built.content == .inline(InlineBytes(Array("z&%E4%20b=%E9?".utf8))))
        #expect(
            built.request.headers == [
                HeaderField(name: "Content-Type", value: "application/x-www-form-urlencoded; charset=iso-8859-1")
            ])
        #expect { _ = try form("€") } throws: { ($0 as? RequestFault)?.field == "body.form" }
    }

    @Test func cookiesNeedAProfile() {
        #expect(fault { $0.usesCookies = .set(true) }?.field == "cookies")
    }

    @Test func anUnknownPresetIsNamed() {
        #expect(fault { $0.acceptedTypes = .set(["json", "jpegs"]) }?.field == "accept_types[1]")
    }

    @Test func aCredentialWithoutAnOriginIsRefused() {
        var profile = profile
        profile.baseURL = nil
        #expect { try ProfileRules.check(profile) } throws: { ($0 as? RequestFault)?.field == "credential" }
        profile.credential?.origins = [url.origin]
        #expect(throws: Never.self) { try ProfileRules.check(profile) }
    }

    @Test(arguments: ["", "Api", "-a", "a b", "ä"])
    func aProfileNameMustBeAWord(name: String) {
        var profile = profile
        profile.name = name
        #expect { try ProfileRules.check(profile) } throws: { ($0 as? RequestFault)?.field == "name" }
    }
}
