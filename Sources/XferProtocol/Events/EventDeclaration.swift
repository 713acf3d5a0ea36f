import StrictJSON
import XferModel

/// The fields of an event beyond the envelope. The one declaration defines the event's body and its schema.
protocol EventContent: Sendable {
    /// Declares the summary, then each field with its value and its meaning. Every value of the same type of event
    /// declares the same fields.
    func declare<Declaration: EventDeclaration>(in event: inout Declaration)
}

/// Receives the declaration of an event.
protocol EventDeclaration {
    /// Declares one or two sentences on when the event happens. Not evaluated for a body.
    mutating func summary(_ text: @autoclosure () -> String)
    /// Declares a field that is always there.
    mutating func required<Value: WireValue>(_ name: String, _ value: Value, _ documentation: String)
    /// Declares a field that is left out when it is nil.
    mutating func optional<Value: WireValue>(_ name: String, _ value: Value?, _ documentation: String)
    /// Declares a field that is `null` when it is nil.
    mutating func nullable<Value: WireValue>(_ name: String, _ value: Value?, _ documentation: String)
    /// The fields of a record, in addition to the event's own.
    mutating func fields<Record: WireRecord>(of record: Record)
}

extension EventDeclaration {
    /// The fields of an event that ends a task's run.
    mutating func end(in state: TaskState) {
        required("terminal", true, "True.")
        required("state", state, "State at the end.")
    }
}

/// Collects the body of an event.
struct EventBody: EventDeclaration {
    private(set) var members = JSONObject()

    init(_ content: some EventContent) { content.declare(in: &self) }

    func summary(_ text: @autoclosure () -> String) {}

    mutating func required<Value: WireValue>(_ name: String, _ value: Value, _ documentation: String) {
        members.append(newKey: name, value.wire)
    }

    mutating func optional<Value: WireValue>(_ name: String, _ value: Value?, _ documentation: String) {
        if let value { members.append(newKey: name, value.wire) }
    }

    mutating func nullable<Value: WireValue>(_ name: String, _ value: Value?, _ documentation: String) {
        members.append(newKey: name, value?.wire ?? .null)
    }

    mutating func fields<Record: WireRecord>(of record: Record) {
        for (name, value) in record.wire.objectValue?.members ?? [] { members.append(newKey: name, value) }
    }
}

/// Collects the schema of an event's own fields.
struct EventSchema: EventDeclaration {
    private(set) var text = ""
    private(set) var properties = JSONObject()
    private(set) var required: [JSONValue] = []
    /// The schemas of the document, with those of the fields' types.
    private(set) var schemas: WireSchemas

    init(_ content: any EventContent, in schemas: WireSchemas) {
        self.schemas = schemas
        content.declare(in: &self)
    }

    mutating func summary(_ text: @autoclosure () -> String) { self.text = text() }

    mutating func required<Value: WireValue>(_ name: String, _ value: Value, _ documentation: String) {
        add(name, Value.schema(in: &schemas), documentation, isRequired: true)
    }

    mutating func optional<Value: WireValue>(_ name: String, _ value: Value?, _ documentation: String) {
        add(name, Value.schema(in: &schemas), documentation, isRequired: false)
    }

    mutating func nullable<Value: WireValue>(_ name: String, _ value: Value?, _ documentation: String) {
        add(name, SchemaText.nullable(Value.schema(in: &schemas)), documentation, isRequired: true)
    }

    mutating func fields<Record: WireRecord>(of record: Record) {
        for field in Record.wireFields {
            properties.append(newKey: field.name, field.schema(in: &schemas))
            if field.isRequired { required.append(.string(field.name)) }
        }
    }

    private mutating func add(_ name: String, _ schema: JSONValue, _ documentation: String, isRequired: Bool) {
        let described = SchemaText.extending(schema, with: ["description": .string(documentation)])
        properties.append(newKey: name, described)
        if isRequired { required.append(.string(name)) }
    }
}

/// `task.progress`: not durable, coalesced, and always sent a last time before the terminal event.
extension ProgressSnapshot: EventContent {
    func declare<Declaration: EventDeclaration>(in event: inout Declaration) {
        event.summary("Progress of a running task; not durable, and coalesced.")
        event.required("phase", phase, "Present step of the task.")
        event.fields(of: ProgressRecord(self))
    }
}

/// `events.overflow`: the subscription has ended.
struct EventsOverflow: EventContent {
    let lastSeq: Int64

    func declare<Declaration: EventDeclaration>(in event: inout Declaration) {
        event.summary(
            "The client did not read its events in time; this subscription has ended. Continue with "
                + "events.since.")
        event.required("last_seq", lastSeq, "The last durable event that the subscription delivered.")
    }
}
