import Testing
import XferManager
import XferModel

@testable import XferDaemon

@Suite struct ProfileSettingsTests {
    @Test func aConfiguredProfileIsParsedAsOnTheWire() throws {
        let loaded = try load(
            """
            profiles:
              api:
                base_url: https://api.example.org/v1
                headers: { X-Version: 2 }
                languages: [de, en]
                credential: { scheme: bearer, secret: { file: ~/token } }
                cookies: jar
                accept_status: 200
                accept_types: [json]
                idle_timeout: 2.5
                header_rules: [{ hosts: [.example.org], remove: [Referer] }]
              plain:
            """)
        var api = Profile(name: "api")
        api.baseURL = HTTPURL(scheme: .https, host: "api.example.org", port: 443, target: "/v1/")
        api.headers = [HeaderField(name: "X-Version", value: "2")]
        api.languages = ["de", "en"]
        api.credential = Credential(scheme: .bearer, user: "", secret: .file("/home/ann/token"))
        api.keepsCookies = true
        api.acceptedStatus = StatusSet(200...200)
        api.acceptedTypes = ["json"]
        api.idleTimeout = 2.5
        api.headerRules = [HeaderRule(hosts: [try HostPattern(".example.org")], remove: ["Referer"])]
        #expect(loaded.settings.service.profiles == [api, Profile(name: "plain")])
        // What is printed has the secret's place.
        #expect(loaded.yaml.contains("/home/ann/token") && !loaded.yaml.contains(#"secret: "***""#))
    }

    @Test(arguments: [
        ("profiles: []", "/c.yaml:1:11"), ("profiles:\n  Api: {}", "/c.yaml:2:3"),
        ("profiles:\n  a: { bse_url: x }", "/c.yaml:2:8"),
        ("profiles:\n  a:\n    base_url: ftp://x/", "/c.yaml:3:15"),
        ("profiles:\n  a:\n    idle_timeout: -1", "/c.yaml:3:19"),
        ("profiles:\n  a:\n    languages: [de, '?']", "/c.yaml:3:21"),
        ("profiles:\n  a:\n    credential: { user: u, password: p }", "/c.yaml:3:17"),
        ("profiles:\n  a:\n    accept_types:\n      - jpegs", "/c.yaml:4:9"),
    ])
    func aFaultyProfileIsNamedWithItsPlace(yaml: String, place: String) throws {
        let problem = try #require(try problems(of: yaml).first)
        #expect(problem.contains(place), "\(problem)")
        #expect(problem.contains("profiles"))
    }
}
