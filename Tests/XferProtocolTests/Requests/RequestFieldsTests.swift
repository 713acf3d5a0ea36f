import StrictJSON
import Testing
import XferModel
import XferProtocol

private func fields(_ json: JSONObject) throws -> RequestFields {
    var json = json
    json["url"] = "https://example.org/"
    return try NewTask(strict: .object(json)).requestFields
}

private func fault(_ json: JSONObject) -> WireError? {
    #expect(throws: WireError.self) { try fields(json) }
}

private func bytes(_ text: String) -> InlineBytes { InlineBytes(Array(text.utf8)) }

@Suite struct RequestFieldsTests {
    @Test func everyFormOfABodyIsParsed() throws {
        func content(_ body: JSONValue) throws -> RequestContent? {
            try fields(["kind": "data", "body": body]).content
        }
        #expect(try content(["form": [:]]) == .form([]))
        #expect(try content(["form": [:], "charset": "windows-1251"]) == .form([], charset: .windows1251))
        #expect(
            try content(["form": ["a": [1, true, nil], "b": .number(2.5)]])
                == .form([
                    Parameter("a", .list([.text("1"), .text("true"), .null])), Parameter("b", .text("2.5")),
                ]))
        #expect(try content(["json": ["b": 1, "a": [nil]]]) == .json(bytes(#"{"b":1,"a":[null]}"#)))
        #expect(try content(["json": nil]) == .json(bytes("null")))
        #expect(try content(["raw": "ü"]) == .bytes(bytes("ü")))
        #expect(try content(["base64": "AAE="]) == .bytes(InlineBytes([0, 1])))
        #expect(try content(["file": "/f"]) == .file(FileReference(path: "/f", field: "body.file")))
    }

    @Test func aCharsetIsAboutAForm() {
        #expect(fault(["kind": "data", "body": ["raw": "x", "charset": "koi8-r"]])?.path == "body.charset")
        #expect(fault(["kind": "data", "body": ["form": [:], "charset": "iso-2022-jp"]])?.path == "body.charset")
    }

    @Test func dataTasksAndUploadsHaveAnyMethod() throws {
        #expect(try fields(["kind": "data", "method": "MKCOL"]).effectiveMethod.rawValue == "MKCOL")
        #expect(try fields(["kind": "data", "method": "DELETE"]).effectiveMethod == .delete)
        let report = try fields(["kind": "upload", "method": "REPORT", "body": ["raw": "<x/>"]])
        #expect(report.effectiveMethod.rawValue == "REPORT")
        for method in ["GET", "HEAD", "DELETE"] {
            #expect(fault(["kind": "upload", "source": "/f", "method": .string(method)])?.path == "method")
        }
        for method in ["HEAD", "PROPFIND", "PURGE"] {
            #expect(fault(["kind": "download", "method": .string(method)])?.path == "method")
        }
    }

    @Test func partsKeepTheirOrder() throws {
        let made = try fields([
            "kind": "upload",
            "parts": [
                ["name": "a", "data": "x", "headers": ["X-A": "1"]],
                ["name": "b", "file": "/f", "filename": "g", "content_type": "text/plain"],
            ],
        ])
        #expect(
            made.content
                == .parts([
                    RequestPart(
                        name: "a", content: .bytes(bytes("x")), headers: [HeaderField(name: "X-A", value: "1")]),
                    RequestPart(
                        name: "b", content: .file(FileReference(path: "/f", field: "parts[1].file")), filename: "g",
                        contentType: "text/plain"),
                ]))
    }

    @Test func nullIsDistinguishedFromAnAbsentField() throws {
        let made = try fields(["redirect": nil, "proxy": nil, "credential": nil, "headers": ["A": "b", "C": nil]])
        #expect(made.redirect == .clear && made.proxy == .clear && made.credential == .clear)
        #expect(made.cookiesAndTimeoutsAreUnchanged)
        #expect(made.headers == [HeaderField(name: "A", value: "b")] && made.unsetHeaders == ["C"])
    }

    @Test func everyKindOfCredentialIsParsed() throws {
        func credential(_ json: JSONValue) throws -> Credential? {
            try fields(["credential": json]).credential.applied(to: nil)
        }
        #expect(try credential(["user": "u", "password": "p"]) == Credential(user: "u", password: "p"))
        #expect(
            try credential(["scheme": "digest", "user": "u", "password": ["systemd": "pw"]])
                == Credential(scheme: .digest, user: "u", secret: .systemdCredential("pw")))
        #expect(
            try credential(["scheme": "bearer", "secret": ["env": "TOKEN"], "origins": ["HTTPS://A.test:443/"]])
                == Credential(
                    scheme: .bearer, user: "", secret: .environment("TOKEN"),
                    origins: [Origin(scheme: .https, host: "a.test", port: 443)]))
        #expect(
            try credential(["scheme": "netrc", "secret": ["file": "/etc/netrc"]])
                == Credential(scheme: .netrc, user: "", secret: .file("/etc/netrc")))
        #expect(
            try credential(["scheme": "sigv4", "user": "AKIA", "secret": "s", "region": "eu-1"])
                == Credential(scheme: .awsSigV4(region: "eu-1", service: "s3"), user: "AKIA", secret: .value("s")))
    }

    @Test func aShownCredentialHoldsNoSecret() {
        let shown = CredentialRecord(masking: Credential(scheme: .bearer, user: "", secret: .file("/etc/SECRET")))
        #expect(shown.wire == ["scheme": "bearer", "secret": "***"])
        var profile = Profile(name: "api")
        profile.credential = Credential(scheme: .bearer, user: "", secret: .file("/etc/token"))
        #expect(
            ProfileRecord(profile, origin: .client).wire["credential"]
                == ["scheme": "bearer", "secret": ["file": "/etc/token"]])
        profile.credential = Credential(scheme: .bearer, user: "", secret: .value("SECRET"))
        #expect(
            ProfileRecord(profile, origin: .client).wire["credential"] == ["scheme": "bearer", "secret": "***"])
        let proxy = ProxyRecord(
            masking: ProxySettings(url: "http://p:1", credential: Credential(user: "u", password: "SECRET")))
        #expect(proxy.wire == ["url": "http://p:1", "credential": ["user": "***", "password": "***"]])
    }
}

extension RequestFields {
    fileprivate var cookiesAndTimeoutsAreUnchanged: Bool {
        usesCookies == .unchanged && choices.idleTimeout == .unchanged && choices.acceptedTypes == .unchanged
    }
}

/// Bad input: each names the field that should not be there.
@Suite struct RefusedRequestTests {
    @Test func aBodyWithGETIsRefused() {
        #expect(fault(["kind": "data", "method": "GET", "body": ["raw": "x"]])?.path == "body")
        #expect(fault(["kind": "data", "method": "HEAD", "parts": [["name": "a", "data": ""]]])?.path == "parts")
    }

    @Test func aBodyBesidePartsIsRefused() {
        #expect(fault(["kind": "data", "body": ["raw": "x"], "parts": [["name": "a", "data": ""]]])?.path == "parts")
    }

    @Test func aBodyBesideASourceIsRefused() {
        #expect(fault(["kind": "upload", "body": ["raw": "x"], "source": "/f"])?.path == "source")
    }

    @Test func aSourceWithoutAnUploadIsRefused() {
        #expect(fault(["source": "/f"])?.path == "source")
        #expect(fault(["kind": "data", "upload": "tus"])?.path == "upload")
        #expect(fault(["kind": "upload"])?.path == "source")
        #expect(fault(["kind": "upload", "source": "f"])?.path == "source")
    }

    @Test func twoFormsOfABodyAreRefused() {
        #expect(fault(["kind": "data", "body": ["raw": "x", "json": 1]])?.path == "body")
        #expect(fault(["kind": "data", "body": [:]])?.path == "body")
        #expect(fault(["kind": "data", "parts": [["name": "a"]]])?.path == "parts[0]")
        #expect(fault(["kind": "data", "parts": []])?.path == "parts")
        #expect(fault(["kind": "data", "body": ["base64": "?"]])?.path == "body.base64")
    }

    @Test(
        arguments: [
            ("output", "f"), ("dir", "/d"), ("on_conflict", "skip"),
            ("checksum", "md5=d41d8cd98f00b204e9800998ecf8427e"),
            ("mode", "0600"), ("remote_time", true),
        ] as [(String, JSONValue)])
    func aFileForADataTaskIsRefused(field: String, value: JSONValue) {
        #expect(fault(["kind": "data", field: value])?.path == field)
        #expect(fault(["kind": "upload", "source": "/f", field: value])?.path == field)
    }

    @Test func parsingADownloadIsRefused() {
        #expect(fault(["parse": ["json"]])?.path == "parse")
        #expect(fault(["strip_nulls": true])?.path == "strip_nulls")
        #expect(fault(["kind": "data", "strip_nulls": true])?.path == "strip_nulls")
        #expect(fault(["kind": "data", "parse": ["xml"]])?.path == "parse[0]")
        #expect(fault(["method": "HEAD"])?.path == "method")
    }

    @Test func lineBreaksInHeadersAreRefused() {
        for value in ["a\r\nX: y", "a\nb", "a\0b"] as [JSONValue] {
            #expect(fault(["headers": ["A": value]])?.path == "headers.A")
            #expect(
                fault(["kind": "data", "parts": [["name": "n", "data": "", "headers": ["A": value]]]])?.path
                    == "parts[0].headers.A")
            #expect(fault(["kind": "data", "parts": [["name": value, "data": ""]]])?.path == "parts[0].name")
            #expect(
                fault(["kind": "data", "parts": [["name": "n", "data": "", "filename": value]]])?.path
                    == "parts[0].filename")
            #expect(
                fault(["kind": "data", "parts": [["name": "n", "data": "", "content_type": value]]])?.path
                    == "parts[0].content_type")
        }
        #expect(fault(["headers": ["A\r\nB": "x"]]) != nil)
        #expect(fault(["headers": ["Content-Length": "3"]])?.path == "headers.Content-Length")
    }

    @Test func deeplyNestedJSONIsRefused() {
        let text =
            #"{"url":"http://h/","kind":"data","body":{"json":"# + String(repeating: "[", count: 70)
            + String(repeating: "]", count: 70) + "}}"
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
    }

    @Test func contradictoryCredentialsAreRefused() {
        #expect(fault(["credential": ["user": "u"]])?.path == "credential.password")
        #expect(fault(["credential": ["scheme": "bearer", "password": "p"]])?.path == "credential.password")
        #expect(fault(["credential": ["scheme": "sigv4", "user": "a", "secret": "s"]])?.path == "credential.region")
        #expect(
            fault(["credential": ["user": "u", "password": ["file": "relative"]]])?.path == "credential.password.file")
        #expect(
            fault(["credential": ["user": "u", "password": ["file": "/a", "env": "B"]]])?.path == "credential.password")
        #expect(
            fault(["credential": ["user": "u", "password": "p", "origins": ["https://a/b"]]])?.path
                == "credential.origins[0]")
    }

    @Test func contradictoryUploadsAreRefused() {
        #expect(fault(["kind": "upload", "source": "/f", "method": "DELETE"])?.path == "method")
        #expect(fault(["kind": "upload", "source": "/f", "upload": "tus", "method": "PUT"])?.path == "method")
        #expect(
            fault(["kind": "upload", "source": "/f", "upload": "resumable", "method": "PROPPATCH"])?.path == "method")
        #expect(
            fault(["kind": "upload", "upload": "tus", "parts": [["name": "a", "data": ""]]])?.path == "parts")
        #expect(fault(["kind": "upload", "body": ["raw": "x"], "spool": true])?.path == "spool")
    }
}
