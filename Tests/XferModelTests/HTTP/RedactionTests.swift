import Testing

@testable import XferModel

@Suite struct RedactionTests {
    @Test(arguments: [
        "Authorization", "proxy-authorization", "Cookie", "Set-Cookie", "X-Auth-Token", "X-Api-Key", "Api-Secret",
        "X-Password", "API_SECRET", "x-passwd", "X-Auth", "X-Session-Id", "Signature", "X-JWT", "X-Credential",
        "apiKey",
        "X-ApiKey", "Client-Secret-Hash", "X-Amz-Security-Token", "X-Hub-Signature-256", "X-PWD", "Code",
    ])
    func aHeaderFieldWithASecretNameIsMasked(name: String) {
        #expect(Redaction.header(HeaderField(name: name, value: "hunter2")).value == "***")
    }

    @Test(arguments: [
        "Accept", "Content-Type", "Content-Encoding", "ETag", "Keep-Alive", "WWW-Authenticate", "Author",
        "X-Error-Code",
        "X-Keywords", "Access-Control-Allow-Credentials", "Content-Disposition", "Host", "Encoding", "X-Passenger",
    ])
    func anotherHeaderFieldIsShown(name: String) {
        #expect(Redaction.header(HeaderField(name: name, value: "shown")).value == "shown")
    }

    @Test(arguments: [
        "code", "jwt", "auth", "AUTH", "token", "access_token", "api_key", "apikey", "key", "sig", "sign", "signature",
        "X-Amz-Signature", "x-goog-credential", "password", "passwd", "pass", "pwd", "client_secret", "session_id",
        "PHPSESSID", "sid", "auth_code", "user[password]", "to%6ben", "%74oken", "ticket", "otp", "cookie",
        "oauth-token", "authKey", "SAMLResponse", "assertion", "code_verifier",
    ])
    func aParameterWithASecretNameIsMasked(name: String) {
        #expect(Redaction.url("https://h/p?a=1&\(name)=hunter2&b=2") == "https://h/p?a=1&\(name)=***&b=2")
        #expect(Redaction.url("https://h/p?a=1;\(name)=hunter2") == "https://h/p?a=1;\(name)=***")
        #expect(Redaction.url("https://h/p#\(name)=hunter2&b=2") == "https://h/p#\(name)=***&b=2")
        #expect(Redaction.url("https://h/p;\(name)=hunter2/q?b=2") == "https://h/p;\(name)=***/q?b=2")
        #expect(
            Redaction.url("https://h/p?next=https://i/?\(name)=hunter2") == "https://h/p?next=https://i/?\(name)=***")
        #expect(Redaction.url("https://h/p?\(name)=a=b?c") == "https://h/p?\(name)=***" + "?c")
    }

    @Test(arguments: [
        "https://h/", "https://h/key=1/x", "https://h/?page=2&country_code=de&encoding=x", "https://h/?a=b=c&author=x",
        "https://h/?q=a%3Db%26c%40d", "https://h/a%3Fcode%3Dx", "relative?x=1#y=2", "https://h/?=x&&=", "",
    ])
    func aURLWithoutSecretsIsShownAsItIs(url: String) { #expect(Redaction.url(url) == url) }

    @Test func aURLWithinAParameterIsMaskedWithItsSecret() {
        #expect(Redaction.url("https://h/?u=https%3A%2F%2Fi%2F%3Ftoken%3Dx&b=1") == "https://h/?u=***&b=1")
        #expect(Redaction.url("https://h/?u=https%253A%252F%252Fi%252F%253Fjwt%253Dx") == "https://h/?u=***")
        #expect(Redaction.url("https://h/?u=https%3A%2F%2Fme%3Ahunter2%40i%2F") == "https://h/?u=***")
    }

    @Test func userInfoIsMasked() {
        #expect(Redaction.url("https://me:hunter2@h/p") == "https://***@h/p")
        #expect(Redaction.url("https://me@you:hunter2@h") == "https://***@h")
        #expect(Redaction.url("https://h/@x") == "https://h/@x")
    }

    @Test func urlsInHeaderFieldsAreMasked() {
        func shown(_ name: String, _ value: String) -> String {
            Redaction.header(HeaderField(name: name, value: value)).value
        }
        #expect(shown("Location", "/cb?code=x") == "/cb?code=***")
        #expect(shown("Link", "<https://h/?sig=x>; rel=\"next\"") == "<https://h/?sig=***>; rel=\"next\"")
        #expect(shown("Refresh", "0;url='https://h/?token=x'") == "0;url='https://h/?token=***'")
        #expect(shown("Link", "</n?token=x>; rel=next") == "</n?token=***>; rel=next")
        #expect(shown("Refresh", "0; url=/?token=x") == "0; url=/?token=***")
    }

    @Test func urlsInTextAreMaskedOneByOne() {
        #expect(
            Redaction.text("from \"https://a/?jwt=x\" to https://me:pw@b/, then")
                == "from \"https://a/?jwt=***\" to https://***@b/, then")
    }

    @Test(arguments: [
        ("X-Acme-*", "x-acme-id", true), ("X-Acme-*", "x-acm", false), ("*zauber*wort", "zauberxwort", true),
        ("*zauber*wort", "ein-zauberwort", true), ("*zauber*wort", "zauberworte", false), ("pin", "pin", true),
        ("pin", "spin", false), ("a*a", "a", false), ("a*a", "aa", true), ("*b*b*", "abcb", true),
        ("*b*b*", "abc", false),
    ])
    func aNamePatternMatchesWhereItsStarsAllowIt(pattern: String, name: String, matches: Bool) throws {
        #expect(try #require(NamePattern(pattern)).matches(name) == matches)
    }

    @Test(arguments: ["", "*", "***", "a b", "ä", String(repeating: "x", count: 129)])
    func aPatternThatNamesNothingOrEverythingIsRejected(text: String) { #expect(NamePattern(text) == nil) }
}
