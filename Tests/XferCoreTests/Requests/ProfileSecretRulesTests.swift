import Testing
import XferCore
import XferModel

/// What a profile's secrets are shown to is for its operator to say.
@Suite struct ProfileSecretRulesTests {
    private let home = HTTPURL(scheme: .https, host: "api.example", port: 443, target: "/v1/")

    private var profile: Profile {
        var profile = Profile(name: "api")
        profile.baseURL = home
        profile.headers = [
            HeaderField(name: "X-Env", value: "one"), HeaderField(name: "Authorization", value: "s3cret"),
        ]
        profile.headerRules = [HeaderRule(set: [HeaderField(name: "Cookie", value: "c=1")])]
        profile.keepsCookies = true
        return profile
    }

    private func url(_ scheme: HTTPURL.Scheme, _ host: String, _ port: UInt16) -> HTTPURL {
        HTTPURL(scheme: scheme, host: host, port: port, target: "/x")
    }

    @Test func theProfilesOriginIsSentEverything() {
        #expect(ProfileSecretRules.profile(profile, for: [url(.https, "api.example", 443)]) == profile)
    }

    @Test func anotherOriginIsSentNoSecretOfTheProfile() {
        for other in [
            url(.http, "api.example", 80), url(.https, "api.example", 8443), url(.https, "evil.example", 443),
        ] {
            let shown = ProfileSecretRules.profile(profile, for: [other])
            #expect(shown.headers.map(\.name) == ["X-Env"])
            #expect(shown.headerRules.flatMap(\.set).isEmpty && !shown.keepsCookies)
        }
    }

    @Test func aMirrorAtAnotherOriginGetsNoCookies() {
        let sources = [url(.https, "api.example", 443), url(.http, "api.example", 80)]
        let shown = ProfileSecretRules.profile(profile, for: sources)
        #expect(!shown.keepsCookies && shown.headers == profile.headers)
    }

    @Test func aProfileWithoutAnOriginSendsItsSecretFieldsToNoOrigin() {
        var unbound = profile
        unbound.baseURL = nil
        let shown = ProfileSecretRules.profile(unbound, for: [url(.https, "api.example", 443)])
        #expect(shown.headers.map(\.name) == ["X-Env"] && shown.keepsCookies)
    }

    @Test func aTaskThatUsesProfileSecretsMayNotChangeTheRoute() {
        var request = TransferRequest(url: home, usesProfileCredential: true)
        #expect(ProfileSecretRules.refusal(of: request, with: profile) == nil)
        request.proxy = ProxySettings(url: "http://proxy.example:3128")
        #expect(ProfileSecretRules.refusal(of: request, with: profile)?.field == "proxy")
        var proxied = profile
        proxied.proxy = request.proxy
        #expect(ProfileSecretRules.refusal(of: request, with: proxied) == nil)
        request.proxy = nil
        #expect(ProfileSecretRules.refusal(of: request, with: proxied)?.field == "proxy")
        request.headers = [HeaderField(name: "host", value: "evil.example")]
        #expect(ProfileSecretRules.refusal(of: request, with: profile)?.field == "headers")
        request.usesProfileCredential = false
        #expect(ProfileSecretRules.refusal(of: request, with: profile) == nil)
        request.headers.append(HeaderField(name: "Authorization", value: "s3cret"))
        #expect(ProfileSecretRules.refusal(of: request, with: profile)?.field == "headers")
    }

    @Test func movingToAnotherOriginRemovesTheProfilesSecretsAndHost() {
        var request = TransferRequest(
            url: home, headers: profile.headers + [HeaderField(name: "Host", value: "x")],
            headerRules: profile.headerRules, usesCookies: true)
        ProfileSecretRules.unbind(&request)
        #expect(request.headers.map(\.name) == ["X-Env"] && !request.usesCookies)
        #expect(request.headerRules.flatMap(\.set).isEmpty)
    }
}
