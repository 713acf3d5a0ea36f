import Glibc
import XferFiles
import XferModel

@testable import XferCore
@testable import XferCurl
@testable import XferDaemon
@testable import XferSystem

/// What files, the kernel and people say.
extension FuzzTarget {
    static let timeZoneFile = FuzzTarget("tzif", bytes: zoneSeeds) { bytes in
        guard let zone = try? TimeZoneFile.read(bytes) else { return }
        for second: Int64 in [.min, .min + 86_400, -1, 0, 1_700_000_000, .max - 86_400, .max] {
            _ = zone.offset(at: second)
            if let next = zone.nextChange(after: second) { precondition(next > second, "\(next) after \(second)") }
        }
        for times in [DailyTimes("22:00-06:00"), DailyTimes("00:00-24:00")].compactMap(\.self) {
            let calendar = WindowCalendar(TimeWindow(times: [times], days: [.monday]), in: zone)
            for now: Int64 in [.min, 0, 1_700_000_000_000_000, .max] {
                _ = calendar.isOpen(at: Timestamp(microseconds: now))
                _ = calendar.nextChange(after: Timestamp(microseconds: now))
            }
        }
    }

    /// A file of version 2 with two changes and a rule, as zic(8) writes it.
    private static var zoneSeeds: [[UInt8]] {
        func number(_ value: Int64, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func block(_ size: Int, _ times: [Int64]) -> [UInt8] {
            let header = Array("TZif2".utf8) + Array(repeating: 0, count: 15)
            let counts = [0, 0, 0, Int64(times.count), 2, 8].flatMap { number($0, 4) }
            let types = number(3600, 4) + [0, 0] + number(7200, 4) + [1, 4]
            let indices = times.indices.map { UInt8($0 % 2) }
            return header + counts + times.flatMap { number($0, size) } + indices + types + Array("CET\0CES\0".utf8)
        }
        let footer = Array("\nCET-1CEST,M3.5.0,M10.5.0/3\n".utf8)
        return [
            block(4, [0, 1_000_000]) + block(8, [0, 1_700_000_000]) + footer,
            block(4, []) + block(8, [.min, .min + 1]) + footer,
            block(4, []) + block(8, [.max - 1, .max]) + Array("\n<+14>-14\n".utf8),
        ]
    }

    static let netrc = FuzzTarget(
        text: "netrc",
        seeds: [
            "machine a login b password \"c \\\" d\" account e\n# x\ndefault login f password g\n",
            "machine a macdef init\ncd /\n\nlogin #b password", "\"",
        ]
    ) { text in
        let netrc = Netrc(text)
        _ = (netrc.login(for: "a"), netrc.login(for: ""))
    }

    private static let instance = try? InstancePaths(environment: ["HOME": "/home/ann"], uid: 1000)

    static let configuration = FuzzTarget(
        text: "configuration",
        seeds: [
            "queue:\n  max_active: 6\n  max_per_host: 2\nretry:\n  attempts: 5\n  base_delay: 1s\n",
            "storage:\n  roots: [~/Downloads, /srv]\nengine:\n  idle_timeout: 60s\n  max_receive_rate: 5M\n",
            "bandwidth:\n  timetable: ['22:00 off', 'Mon-Fri,sun 09:00 1M/512K']\n",
            "policies:\n  a: { hosts: ['*.example'], mode: pin, pins: ['sha256/AAAA'] }\n",
            "profiles:\n  p:\n    base_url: https://a.example/\n    headers: { X-A: b }\n    timeout: 9e99\n",
            "access:\n  guests:\n    - { user: bob, roots: [/srv/bob] }\nhooks:\n  h: { command: [/bin/true] }\n",
            "a: &a [*a, *a]\n", "history: { max_age: 99999999999999d, max_count: -1 }\n", "\"",
        ]
    ) { text in
        guard let instance else { return }
        let file = ConfigurationText(path: "/c.yaml", text: text)
        do throws(SettingsRejection) {
            let loaded = try LoadedSettings(file: file, instance: instance)
            _ = SettingKey.all.map { loaded.origin(of: $0) }
        } catch {
            precondition(!error.problems.isEmpty && !"\(error)".isEmpty, "a refusal says nothing")
        }
    }

    /// PEM and DER, and all that is shown of a certificate.
    static let certificates = FuzzTarget("certificates", bytes: certificateSeeds) { bytes in
        guard let found = try? PinReader.certificates(in: bytes) else {
            _ = try? PinReader.pins(inText: String(decoding: bytes, as: UTF8.self))
            return
        }
        for certificate in found {
            _ = (certificate.subject, certificate.issuer, certificate.shown, certificate.pem)
            _ = (certificate.notBefore.description, certificate.notAfter.description)
            _ = certificate.alternativeNames
            for name in ["a.example", "", "[::1]", "127.0.0.1"] { _ = certificate.names(ServerName(host: name)) }
            precondition((try? PinReader.pins(inText: certificate.pem)) != nil, "a certificate's own PEM is no pin")
        }
    }

    /// A self-signed certificate for a.example, valid from 2026 to 2036.
    private static let certificateSeeds: [[UInt8]] =
        [Array(seedCertificate.utf8)]
        + ((try? PinReader.certificates(in: Array(seedCertificate.utf8)))?.map(\.der) ?? [])

    private static let seedCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBuzCCAWCgAwIBAgIUFhMU690WKpSugAupFjhpZ3NhkxYwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJYS5leGFtcGxlMB4XDTI2MTEyMjExMTAyN1oXDTM2MTExOTEx
        MTAyN1owFDESMBAGA1UEAwwJYS5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0D
        AQcDQgAEwkMiPrkwSdODj36WcG1uH4WnZp/SCtVc0EnLC+UOikXVlHlwk1nJWk0v
        HD702gxfkGnkFhOwvZgl2DRRJuRxZaOBjzCBjDAdBgNVHQ4EFgQUSC1GQT+0jRQe
        D4D/aayQHow5nygwHwYDVR0jBBgwFoAUSC1GQT+0jRQeD4D/aayQHow5nygwDwYD
        VR0TAQH/BAUwAwEB/zA5BgNVHREEMjAwgglhLmV4YW1wbGWCCyouYi5leGFtcGxl
        hwR/AAABhxAAAAAAAAAAAAAAAAAAAAABMAoGCCqGSM49BAMCA0kAMEYCIQDcJJue
        trPbq8NFKw3l2X5miGERR0Cas4Tja6StYeMYAAIhANsL6n46YpFgSsSrGy8smedy
        6mv7ELNVwkZnVg+5e3GW
        -----END CERTIFICATE-----

        """

    static let netlink = FuzzTarget("netlink", bytes: netlinkSeeds) { bytes in
        var builder = FactsBuilder()
        for message in NetlinkMessage.messages(in: bytes[...]) { builder.apply(message) }
        _ = builder.facts
    }

    /// RTM_NEWLINK, RTM_NEWADDR and RTM_NEWROUTE with the attributes that are read (rtnetlink(7)).
    private static var netlinkSeeds: [[UInt8]] {
        func little(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func attribute(_ type: UInt32, _ value: [UInt8]) -> [UInt8] {
            let bytes = little(UInt32(value.count + 4), 2) + little(type, 2) + value
            return bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
        }
        func message(_ type: UInt32, _ payload: [UInt8]) -> [UInt8] {
            little(UInt32(payload.count + 16), 4) + little(type, 2) + little(2, 2) + little(1, 4) + little(0, 4)
                + payload
        }
        let link = [0, 0, 1, 0] + little(2, 4) + little(0x1043, 4) + little(0, 4)
        let address: [UInt8] = [2, 24, 0, 0] + little(2, 4)
        let route: [UInt8] = [2, 0, 0, 0, 254, 3, 0, 1] + little(0, 4)
        let hop = little(8, 2) + [0, 0] + little(2, 4)
        return [
            message(16, link + attribute(3, Array("eth0\0".utf8))),
            message(20, address + attribute(2, [10, 0, 0, 1]) + attribute(8, little(0x80, 4))),
            message(24, route + attribute(4, little(2, 4)) + attribute(6, little(100, 4)) + attribute(9, hop + hop)),
        ]
    }

    static let urls = FuzzTarget(
        text: "urls",
        seeds: [
            "https://user:p%40ss@ex%41mple.org:8443/a/../b?q=%zz#f", "http://[fe80::1%25eth0]:0/", "http://2130706433/",
            "//host/x", "https://xn--/", "socks5h://a:b@proxy:1080", "*.example.org",
        ]
    ) { text in
        if let parsed = try? CurlURL.parse(text) {
            precondition((try? CurlURL.parse(parsed.url.string))?.url == parsed.url, "\(text): \(parsed.url.string)")
        }
        let base = HTTPURL(scheme: .https, host: "origin.example", port: 443, target: "/a/b")
        _ = try? CurlURL.resolve(text, against: base)
        _ = try? HostPattern.parse(text)
        _ = (try? ProxyServer(text), ProxyExceptions.contain(text, in: [text]), ProxyExceptions.isValid(text))
        _ = (Origin(text), AddressBlock(text), IPAddress(text), InterfacePattern(text), FileName.sanitised(text))
    }

    static let quantities = FuzzTarget(
        text: "quantities",
        seeds: [
            "5M", "9223372036854775807", "1.5 GiB", "99999999999999999999d", "1h30m", "22:00-06:00",
            "Mon-Fri 09:00-17:00",
            "22:00-06:00 1M/512K", "fri-mon 22:00 1M/512K",
            "sha-256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "auto",
            "16",
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ]
    ) { text in
        _ = (ByteSizeText.parse(text), DurationText.parse(text), SegmentCount(text), DailyTimes(text))
        _ = (BandwidthLimits(text), try? BandwidthSchedule(parsing: [text]), try? Checksum(parsing: text))
        _ = (try? KeyPin(text), Base64.decode(text), EntityTag.isStrong(text))
    }
}
