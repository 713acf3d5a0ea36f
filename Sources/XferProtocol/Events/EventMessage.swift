public import StrictJSON
public import XferModel

/// An event on the wire: the envelope, and the fields of its type.
public struct EventMessage: WireValue, Hashable {
    /// The sequence number; nil for events that are not durable.
    public var seq: Int64?
    public var time: Timestamp
    public var type: OpenEnum<EventName>
    public var taskID: TaskID?
    /// The owner; nil for events about the service.
    public var owner: Owner?
    /// In a fleet's events: the node that carries out the task and has its files; nil if none does.
    public var node: String?
    /// The durable event before this one in the same subscription; 0 before the first.
    public var prevSeq: Int64?
    public var subscription: Int64?
    /// The type's own fields: those of its `EventContent`.
    public var body: JSONObject

    /// Creates the message of a durable event.
    public init(_ event: Event) {
        seq = event.seq
        time = event.time
        type = OpenEnum(.durable(event.type))
        taskID = event.taskID
        owner = event.owner
        body = EventBody(event.payload).members
    }

    /// Creates the message `task.progress`.
    public init(_ progress: ProgressSnapshot, at time: Timestamp) {
        self.time = time
        type = OpenEnum(.progress)
        taskID = progress.taskID
        owner = progress.owner
        body = EventBody(progress).members
    }

    /// Creates `events.overflow`: durable events up to `lastSeq` were delivered, no more follow on this subscription.
    public init(overflowAfter lastSeq: Int64, at time: Timestamp) {
        self.time = time
        type = OpenEnum(.overflow)
        body = EventBody(EventsOverflow(lastSeq: lastSeq)).members
    }

    /// The same event as a notification of a subscription carries it.
    public func delivered(on subscription: Int64, after prevSeq: Int64) -> EventMessage {
        var message = self
        message.subscription = subscription
        message.prevSeq = seq == nil ? nil : prevSeq
        return message
    }

    /// A field that the type adds; nil if the event does not have it, or a newer daemon changed its form.
    public func value<Value: WireValue>(_ name: String, _ type: Value.Type = Value.self) -> Value? {
        body[name].flatMap { try? Value(lenient: $0) }
    }

    /// The counters in `task.progress`.
    public var progress: ProgressRecord? {
        type.value == .progress ? try? ProgressRecord(lenient: .object(body)) : nil
    }

    /// True if it ends a task's run.
    public var isTerminal: Bool { body["terminal"]?.boolValue ?? false }

    /// The name of the notification that carries events.
    public static let notification = "event"
}

extension EventMessage {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .object(let object) = value else { throw .wrongType(expected: "an object") }
        var envelope = EventEnvelope()
        body = JSONObject()
        var seen: Set<String> = []
        for (key, value) in object.members {
            if let index = EventEnvelope.wireFields.index(of: key) {
                do { try EventEnvelope.wireFields.decode(index, value, mode, into: &envelope) } catch {
                    throw error.under(key)
                }
                seen.insert(key)
            } else {
                body.append(newKey: key, value)
            }
        }
        for name in ["time", "type"] where !seen.contains(name) {
            throw WireError(.missing, at: name, expected: "a value for this field")
        }
        seq = envelope.seq
        time = envelope.time
        type = envelope.type
        taskID = envelope.taskID
        owner = envelope.owner
        node = envelope.node
        prevSeq = envelope.prevSeq
        subscription = envelope.subscription
    }

    public var wire: JSONValue {
        var object = EventEnvelope(self).wire.objectValue ?? JSONObject()
        for (key, value) in body.members { object.append(newKey: key, value) }
        return .object(object)
    }

    public func write(to output: inout [UInt8]) {
        EventEnvelope(self).write(to: &output)
        guard !body.isEmpty else { return }
        // The object goes on with what the type adds.
        output.removeLast()
        for (key, value) in body.members {
            output.append(UInt8(ascii: ","))
            output.appendJSON(key)
            output.append(UInt8(ascii: ":"))
            value.write(to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// The schema of any event.
    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: "Event") { schemas in
            var forms: [JSONValue] = []
            for name in EventName.allCases { forms.append(schema(of: name, in: &schemas)) }
            return ["description": "An event.", "oneOf": .array(forms)]
        }
    }

    /// Returns the schema of one type of event with the envelope's fields.
    static func schema(of name: EventName, in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: name.schemaName) { schemas in
            let envelope = EventEnvelope.wireFields.table.schema(
                EventEnvelope.summary, isInput: EventEnvelope.isInput, in: &schemas)
            let own = EventSchema(name.example, in: schemas)
            schemas = own.schemas
            var properties = envelope["properties"]?.objectValue ?? JSONObject()
            properties["type"] = ["type": "string", "const": name.wire]
            for (key, value) in own.properties.members { properties[key] = value }
            var required = envelope["required"]?.arrayValue ?? []
            if name.isDurable { required.append("seq") }
            if name.isAboutTask { required += ["task_id", "owner"] }
            required += own.required
            return [
                "description": .string(own.text), "type": "object", "properties": .object(properties),
                "required": .array(required),
            ]
        }
    }
}

/// The fields every event has.
struct EventEnvelope: WireRecord {
    var seq: Int64?
    var time = Timestamp(microseconds: 0)
    var type = OpenEnum<EventName>.unknown("")
    var taskID: TaskID?
    var owner: Owner?
    var node: String?
    var prevSeq: Int64?
    var subscription: Int64?

    init() {}

    init(_ message: EventMessage) {
        seq = message.seq
        time = message.time
        type = message.type
        taskID = message.taskID
        owner = message.owner
        node = message.node
        prevSeq = message.prevSeq
        subscription = message.subscription
    }

    static let summary = "Fields of every event."
    static let wireFields: WireFields<Self> = [
        .optional(
            "seq", \.seq, "Number of the event; durable events are counted over the whole service and across restarts."),
        .required("time", \.time, "Time of the event."),
        .required("type", \.type, "Type of the event."),
        .optional("task_id", \.taskID, "The task concerned."),
        .optional("owner", \.owner, "The uid of that task's owner."),
        .optional(
            "node", \.node,
            "In a fleet: the node that runs the task. Its file is there, under that node's paths."),
        .optional(
            "prev_seq", \.prevSeq,
            "In a notification: seq of the previous durable event in this subscription; 0 for the first."),
        .optional("subscription", \.subscription, "In a notification: the subscription it belongs to."),
    ]
}
