import Testing
import XferModel

@testable import XferManager

@Suite struct WebhookTemplateTests {
    private static let completed =
        #"{"type": "task.completed", "task_id": 42, "path": "/d/a \"b\".iso", "size": 8388608, "time": "T"}"#
    private static let failed =
        #"{"type": "task.failed", "task_id": 7, "error": {"reason": "http_status", "message": "h answered 404", "host": "h"}}"#

    private func body(_ template: String, _ event: String = completed, contentType: String? = nil) throws -> String {
        try WebhookTemplate(template, contentType: contentType).body(for: event)
    }

    @Test func fieldsAreThoseOfTheEvent() throws {
        #expect(try body("{title}: {text}") == #"Download completed: a "b".iso (8.0 MiB)"#)
        #expect(
            try body("{name}|{path}|{size}|{bytes}|{task}|{type}|{time}")
                == #"a "b".iso|/d/a "b".iso|8.0 MiB|8388608|42|task.completed|T"#)
        let page = #"{"type": "task.completed", "path": "/d/a.iso", "size": 0, "warning": "a web page"}"#
        #expect(try body("{text}", page) == "a.iso (0 B): a web page")
        #expect(try body("{title}: {text}", Self.failed) == "Download failed: task 7: h answered 404")
        let named = try WebhookTemplate("{title}: {text}").body(for: Self.failed, name: "a.iso")
        #expect(named == "Download failed: a.iso: h answered 404")
        #expect(try WebhookTemplate("{name}").body(for: Self.completed, name: "other") == #"a "b".iso"#)
        #expect(WebhookValues(Self.failed).taskWithoutPath == TaskID(7))
        #expect(WebhookValues(Self.completed).taskWithoutPath == nil)
        #expect(try body("{reason} {error} {host}", Self.failed) == "http_status h answered 404 h")
        #expect(try body("{title}{name}{size}", #"{"type": "webhook.test"}"#) == "Test of xferd")
        #expect(try body("{title}", "no JSON") == "")
    }

    @Test(arguments: EventType.allCases) func everyEventHasATitleOfWordsAndAText(type: EventType) throws {
        let event = #"{"type": "\#(type.rawValue)"}"#
        let title = try body("{title}", event)
        #expect(title.first?.isUppercase == true && !title.contains(".") && !title.contains("_"), "\(title)")
        #expect(try !body("{text}", event).isEmpty)
    }

    @Test func aTestAndAWaitHaveTexts() throws {
        #expect(try body("{title}: {text}", #"{"type": "webhook.test"}"#) == "Test of xferd: Notifications work")
        let wait = #"{"type": "task.waiting", "task_id": 7, "wait": {"reason": "host_cooldown"}}"#
        #expect(try body("{title}: {text}", wait) == "Download waits: task 7: host cooldown")
        let timed =
            #"{"type": "task.waiting", "task_id": 7, "wait": {"reason": "schedule", "until": "2026-11-29T22:00:00.000Z"}}"#
        #expect(try body("{text}", timed) == "task 7: schedule until 2026-11-29 22:00 UTC")
        let full = #"{"type": "task.waiting", "task_id": 7, "error": {"message": "/d lacks 1 GiB"}}"#
        #expect(try body("{title}: {text}", full) == "Download waits: task 7: /d lacks 1 GiB")
    }

    /// A name of a file must not end a string of the receiver's.
    @Test func valuesAreEscapedAsTheMediaTypeWants() throws {
        #expect(try body(#"{"content": "{name}"}"#) == #"{"content": "a \"b\".iso"}"#)
        #expect(try WebhookTemplate(#"{"content": "{name}"}"#).contentType == "application/json")
        #expect(
            try body("m={name}&x=1", contentType: "application/x-www-form-urlencoded") == "m=a%20%22b%22.iso&x=1")
        #expect(try WebhookTemplate("{name}").contentType == "text/plain; charset=utf-8")
        #expect(try body("{name}", contentType: "application/vnd.x+json") == #"a \"b\".iso"#)
    }

    @Test func onlyKnownNamesInBracesAreFields() throws {
        #expect(try body("{ name } {} {Name} {name") == "{ name } {} {Name} {name")
        #expect(throws: WebhookTextError.self) { try WebhookTemplate("{colour}") }
        let error = #expect(throws: WebhookTextError.self) { try WebhookTemplate("a {colour}") }
        #expect(error?.description.hasPrefix("there is no field {colour}; there are title, text, name") == true)
    }
}
