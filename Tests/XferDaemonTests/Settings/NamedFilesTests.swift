import Testing
import XferModel
import XferTestSupport

@testable import XferDaemon

@Suite struct NamedFilesTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory("xfer-named")
        try FileTree.write("-----BEGIN CERTIFICATE-----\n", to: directory.file("ca.pem"))
        try FileTree.write("no certificate", to: directory.file("text"))
        try FileTree.write("#!/bin/sh\n", to: directory.file("plain"), mode: 0o644)
        try FileTree.write("hunter2", to: directory.file("open"), mode: 0o644)
        try FileTree.write("hunter2", to: directory.file("secret"), mode: 0o600)
    }

    private func look(_ yaml: String) throws -> NamedFiles {
        let instance = try InstancePaths(environment: ["HOME": directory.path], uid: 1000)
        let file = ConfigurationText(
            path: "/c.yaml",
            text: yaml.replacing("DIR", with: directory.path))
        return NamedFiles(try LoadedSettings(file: file, instance: instance), file: file, instance: instance)
    }

    @Test func filesThatExistCauseNeitherProblemsNorWarnings() throws {
        let files = try look(
            """
            trust: { ca_file: DIR/ca.pem }
            download: { dir: DIR, roots: [DIR] }
            hooks: { tell: { argv: [/bin/true] } }
            access: { users: { bob: { roots: [DIR] } } }
            profiles: { api: { base_url: https://h.test/, credential: { scheme: bearer, secret: { file: DIR/secret } } } }
            webhooks: { w: { url: https://h.test/, secret: { file: DIR/secret }, filter: { owners: [root, 4711] } } }
            """)
        #expect(files.problems == [] && files.warnings == [])
    }

    @Test(arguments: [
        ("trust:\n  ca_file: DIR/gone", "/c.yaml:2:12: trust.ca_file: ", "gone does not exist"),
        ("trust: { ca_file: DIR }", "/c.yaml:1:19: trust.ca_file: ", "is not a file"),
        ("trust: { ca_file: DIR/text }", "/c.yaml:1:19: trust.ca_file: ", "contains no certificate"),
        (
            "hooks:\n  a: { argv: [/bin/true] }\n  b:\n    argv:\n      - DIR/gone", "/c.yaml:5:9: hooks.b.argv: ",
            "gone does not exist"
        ),
        ("hooks: { a: { argv: [DIR] } }", "/c.yaml:1:22: hooks.a.argv: ", "is not a file"),
        ("hooks: { a: { argv: [DIR/plain] } }", "/c.yaml:1:22: hooks.a.argv: ", "may not be executed"),
        (
            "download:\n  dir: DIR/text\n  roots: [/tmp, DIR/text]", "/c.yaml:3:17: download.roots: ",
            "is not a directory"
        ),
    ])
    func anUnusableNamedFileRefusesTheConfigurationWithLineAndKey(yaml: String, place: String, words: String) throws {
        let problems = try look(yaml).problems.map(\.description)
        #expect(problems.count == 1 && problems[0].hasPrefix(place) && problems[0].contains(words), "\(problems)")
    }

    @Test(arguments: [
        ("download:\n  dir: DIR/gone\n  roots: [DIR/gone]", "/c.yaml:3:11: download.roots: ", "does not exist"),
        (
            "access:\n  users:\n    bob: { roots: [/, DIR/gone] }", "/c.yaml:3:23: access.users.bob.roots: ",
            "does not exist"
        ),
        (
            "profiles:\n  api:\n    base_url: https://h.test/\n    credential: { scheme: netrc, secret: { file: DIR/gone } }",
            "/c.yaml:4:42: profiles.api.credential.secret: ", "gone cannot be read"
        ),
        (
            "profiles:\n  api:\n    base_url: https://h.test/\n    credential: { scheme: bearer, secret: { file: DIR/open } }",
            "/c.yaml:4:43: profiles.api.credential.secret: ", "0600"
        ),
        (
            "profiles:\n  api:\n    base_url: https://h.test/\n    client_cert: { certificate: DIR/gone, key: DIR/secret }",
            "/c.yaml:4:18: profiles.api.client_cert: ", "gone"
        ),
        (
            "webhooks:\n  w:\n    url: https://h.test/\n    secret: { file: DIR/gone }",
            "/c.yaml:4:13: webhooks.w.secret: ", "its deliveries wait"
        ),
        (
            "webhooks:\n  w: { url: https://h.test/, filter: { owners: [root, no-such-user] } }",
            "/c.yaml:2:55: webhooks.w.filter.owners: ", "there is no user no-such-user"
        ),
    ])
    func aNamedFileThatMayAppearLaterIsWarnedAboutWithLineAndKey(yaml: String, place: String, words: String) throws {
        let files = try look(yaml)
        let warnings = files.warnings.map(\.description).filter { !$0.contains("trust.ca_file") }
        #expect(files.problems == [])
        #expect(warnings.count == 1 && warnings[0].hasPrefix(place) && warnings[0].contains(words), "\(warnings)")
        #expect(!warnings.joined().contains("hunter2"))
    }
}
