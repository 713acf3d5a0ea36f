import StrictJSON
import Testing
import XferModel
import XferProtocol

@testable import XferAria2

/// What becomes of aria2's options.
struct Aria2OptionTests {
    private func task(_ options: JSONObject, _ uris: [String] = ["http://a.test/x"]) throws -> NewTask {
        try Aria2Options(options).task(for: uris)
    }

    private func fault(_ options: JSONObject, _ uris: [String] = ["http://a.test/x"]) -> String? {
        do {
            _ = try task(options, uris)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// RFC 9110 §7.6.1.
    @Test func fieldsAboutTheBrowsersOwnConnectionAreIgnoredByName() throws {
        let options = try Aria2Options([
            "header": [
                "Connection: keep-alive, Upgrade", "keep-alive: 300", "TE: trailers", "Trailer: X", "Upgrade: h2c",
                "transfer-encoding: chunked", "Proxy-Connection: close", "Upgrade-Insecure-Requests: 1", "A: b",
            ]
        ])
        let task = try options.task(for: ["http://a.test/x"])
        #expect(task.headers?.set.wire == ["Upgrade-Insecure-Requests": "1", "A": "b"])
        let names = ["connection", "keep-alive", "te", "trailer", "upgrade", "transfer-encoding", "proxy-connection"]
        #expect(options.ignored == Set(names.map { "header \($0)" }))
    }

    @Test func optionsBecomeFieldsOfTheTask() throws {
        let sum = String(repeating: "ab", count: 32)
        let task = try task([
            "out": "dir/b.iso", "dir": "/srv", "checksum": .string("sha-256=\(sum)"), "header": ["A: 1", "B:2"],
            "referer": "*", "user-agent": "me", "http-user": "ada", "http-passwd": "secret", "split": "8",
            "max-connection-per-server": "4", "max-download-limit": "100K", "max-upload-limit": "1M", "pause": "true",
            "max-tries": "3", "allow-overwrite": "true", "remote-time": "true", "connect-timeout": "7", "timeout": "9",
            "lowest-speed-limit": "2K",
        ])
        #expect(task.url == "http://a.test/x" && task.output == "dir/b.iso" && task.dir == "/srv")
        #expect(task.checksum?.hexDigits == sum)
        #expect(task.headers?.set.wire == ["A": "1", "B": "2", "Referer": "http://a.test/x", "User-Agent": "me"])
        #expect(task.access.credential == .set(CredentialRecord(user: "ada", password: "secret")))
        #expect(task.limits.segments == .set(.exactly(4)))
        #expect(task.limits.maxReceiveRate == .set(102_400) && task.limits.maxSendRate == .set(1_048_576))
        #expect(task.limits.maxRetries == .set(2))
        #expect(task.paused == true && task.retryFailed == true && task.group == "aria2")
        #expect(task.destination.onConflict == .set(.overwrite) && task.destination.usesRemoteTime == .set(true))
        #expect(task.choices.connectTimeout == .set(7) && task.choices.idleTimeout == .set(9))
        #expect(task.choices.minReceiveRate == .set(2048))
    }

    @Test func severalURIsAreMirrors() throws {
        let uris = ["http://a.test/x", "https://b.test/x", "http://a.test/x"]
        #expect(try task([:], uris).urls == ["http://a.test/x", "https://b.test/x"])
        #expect(try task([:], ["http://a.test/x", "http://a.test/x"]).url == "http://a.test/x")
    }

    @Test func whatIsNotHTTPIsRefusedWithItsReason() {
        #expect(fault([:], ["magnet:?xt=urn:btih:7FSB"])?.contains("BitTorrent") == true)
        #expect(fault([:], ["ftp://a.test/x"])?.contains("ftp is not supported") == true)
        #expect(fault([:], ["nonsense"])?.contains("unrecognized URI") == true)
        #expect(fault([:], []) == "URI is not provided.")
    }

    @Test(arguments: [
        "load-cookies", "save-session", "input-file", "conf-path", "ca-certificate", "netrc-path",
        "on-download-complete",
        "private-key", "async-dns-server", "never-heard-of",
    ])
    func optionsThatMayChangeTrustCredentialsOrDestinationAreRefused(name: String) {
        #expect(fault(JSONObject(dictionaryLiteral: (name, "/etc/shadow")))?.hasPrefix("\(name): ") == true)
        #expect(fault(JSONObject(dictionaryLiteral: (name, "")))?.hasPrefix("\(name): ") == true)
    }

    @Test func optionsThatMayNotBeChangedAreRefusedUnlessTheyChangeNothing() throws {
        for (name, (value, _)) in Aria2Option.restricted {
            #expect(fault(JSONObject(dictionaryLiteral: (name, .string(value)))) == nil, "\(name)")
            #expect(fault(JSONObject(dictionaryLiteral: (name, "other")))?.hasPrefix(name) == true, "\(name)")
        }
    }

    @Test func optionsWithoutEffectAreAcceptedAndNamed() throws {
        let options = try Aria2Options(["file-allocation": "none", "bt-max-peers": "55", "always-resume": true])
        #expect(options.ignored == ["file-allocation", "bt-max-peers", "always-resume"] && options.isEmpty)
        #expect(Set(Aria2Option.refused.keys).isDisjoint(with: Aria2Option.ignored))
        #expect(Set(Aria2Option.Mapped.allCases.map(\.rawValue)).isDisjoint(with: Aria2Option.ignored))
    }

    @Test(arguments: [
        ("max-download-limit", "1G"), ("max-download-limit", "-1"), ("max-download-limit", "99999999999999999999"),
        ("max-download-limit", "9223372036854775807M"), ("split", "0"), ("split", "x"), ("max-tries", "-1"),
        ("pause", "yes"), ("checksum", "sha-256=12"), ("checksum", "adler32=12345678"), ("header", "no colon"),
        ("header", "Range: bytes=0-"), ("header", "A: b\r\nC: d"), ("out", "/etc/passwd"), ("out", "../x"),
        ("out", "a/../../x"), ("dir", "relative"), ("gid", "xyz"), ("gid", "0000000000000000"), ("http-passwd", "x"),
        ("all-proxy", "@host:1"), ("timeout", "601"),
    ])
    func aFaultyValueIsRefusedWithTheOptionsName(name: String, value: String) throws {
        let found = try #require(fault(JSONObject(dictionaryLiteral: (name, .string(value)))), "\(name)=\(value)")
        #expect(!found.isEmpty)
    }

    @Test func valuesOfOtherTypesAreRefused() {
        #expect(throws: Aria2Fault.self) { try Aria2Options(["out": ["a": "b"]]) }
        #expect(throws: Aria2Fault.self) { try Aria2Options(["header": [1]]) }
        #expect(throws: Aria2Fault.self) { try Aria2Options(["out": nil]) }
    }

    @Test func aChosenGIDIsKeptInTheTask() throws {
        let task = try task(["gid": "2089B05ecca3d829"])
        #expect(task.clientKey == "aria2:2089b05ecca3d829" && task.label == "2089b05ecca3d829")
        var record = TaskRecord()
        record.id = TaskID(7)
        record.clientKey = task.clientKey
        #expect(Aria2Status(record, seed: Aria2Seed(storeID: "s")).gid.description == "2089b05ecca3d829")
    }

    @Test func theProxyIsThatOfTheURLsScheme() throws {
        let options: JSONObject = [
            "all-proxy": "http://ada:pw@all.test:1", "https-proxy": "secure.test:2", "https-proxy-user": "bob",
            "no-proxy": "localhost, 10.0.0.0/8",
        ]
        func proxy(_ url: String) throws -> ProxyRecord? {
            guard case .set(let proxy) = try task(options, [url]).access.proxy else { return nil }
            return proxy
        }
        let plain = try #require(try proxy("http://a.test/"))
        #expect(plain.form.url == "http://all.test:1")
        #expect(plain.form.credential == CredentialRecord(user: "ada", password: "pw"))
        #expect(plain.form.noProxy == ["localhost", "10.0.0.0/8"])
        let secure = try #require(try proxy("https://a.test/"))
        #expect(secure.form.url == "http://secure.test:2")
        #expect(secure.form.credential == CredentialRecord(user: "bob", password: ""))
    }

    @Test func changesNameOnlyWhatWasGiven() throws {
        let changes = try #require(try Aria2Options(["max-download-limit": "20000"]).changes(for: "http://a.test/"))
        #expect(changes.wire == ["max_recv_rate": 20_000])
        #expect(try Aria2Options(["file-allocation": "none"]).changes(for: "http://a.test/") == nil)
        for (name, value) in [("pause", "true"), ("gid", "2089b05ecca3d829"), ("referer", "x"), ("http-user", "x")] {
            let options = try Aria2Options(JSONObject(dictionaryLiteral: (name, .string(value))))
            #expect(throws: Aria2Fault.self, "\(name)") { try options.changes(for: "http://a.test/") }
        }
    }

    @Test func theOptionsOfATaskAreShownAsTheyWereGiven() throws {
        var record = TaskRecord()
        record.id = TaskID(1)
        record.dir = "/srv"
        record.limits.maxReceiveRate = .set(10_000)
        record.limits.segments = .set(.exactly(4))
        record.destination.onConflict = .set(.fail)
        record.headers = HeaderList([HeaderField(name: "User-Agent", value: "me"), HeaderField(name: "A", value: "b")])
        let options = Aria2Status(record, seed: Aria2Seed(storeID: "s")).options
        for (name, value) in [
            ("dir", "/srv"), ("max-download-limit", "10000"), ("split", "4"), ("auto-file-renaming", "false"),
            ("user-agent", "me"), ("header", "A: b"), ("max-tries", "0"),
        ] {
            #expect(options[name]?.stringValue == value, "\(name)")
        }
    }
}
