/// The steps after a task's last byte: how the file gets its name, which of the operator's commands run, and which of
/// the operator's webhooks are notified of the end.
public struct TaskCompletion: Hashable, Sendable, Codable {
    public var finalize = FinalizeMode.auto
    /// Name of the hook that works on the file before it is staged or published.
    public var postProcess: String?
    /// Name of the hook that runs once the task has completed.
    public var onComplete: String?
    /// Name of the hook that runs once the task has failed.
    public var onError: String?
    /// Names of the webhooks that get the event of the task's end, in addition to those that get such events anyway;
    /// nil is none.
    public var onEnd: [String]?

    public init(
        finalize: FinalizeMode = .auto, postProcess: String? = nil, onComplete: String? = nil, onError: String? = nil,
        onEnd: [String]? = nil
    ) {
        self.finalize = finalize
        self.postProcess = postProcess
        self.onComplete = onComplete
        self.onError = onError
        self.onEnd = onEnd
    }

    /// The hook a task names for an occasion; nil when it names none.
    public func hook(for occasion: HookOccasion) -> String? {
        switch occasion {
        case .postProcess: postProcess
        case .onComplete: onComplete
        case .onError: onError
        }
    }
}

extension TaskCompletion: ChoiceSubject {
    /// A client's choices about completion.
    public struct Choices: Hashable, Sendable {
        public var finalize = Patch<FinalizeMode>.unchanged
        public var postProcess = Patch<String>.unchanged
        public var onComplete = Patch<String>.unchanged
        public var onError = Patch<String>.unchanged
        public var onEnd = Patch<[String]>.unchanged

        public init() {}
    }

    public static let choiceTable: [Choice<Self>] = [
        Choice(\.finalize, \.finalize, hidden: .auto),
        Choice(\.postProcess, optional: \.postProcess),
        Choice(\.onComplete, optional: \.onComplete),
        Choice(\.onError, optional: \.onError),
        Choice(\.onEnd, optional: \.onEnd),
    ]
}

/// The time at which a download's file gets its final name.
public enum FinalizeMode: String, Sendable, Codable, CaseIterable {
    /// The file is published as soon as it is complete and verified.
    case auto
    /// The file is kept, `staged`, until `task.commit`.
    case manual
}

/// The occasion on which a hook runs.
public enum HookOccasion: String, Sendable, Codable, CaseIterable {
    /// The hook runs before the file is staged or published, and may replace it.
    case postProcess = "post_process"
    /// The hook runs after the task has completed.
    case onComplete = "on_complete"
    /// The hook runs after the task has failed.
    case onError = "on_error"
}

/// A command that the operator defines and that tasks refer to by name.
public struct HookDefinition: Hashable, Sendable {
    public var name: String
    /// The program's absolute path and its arguments.
    public var arguments: [String]
    /// The longest run time, in seconds.
    public var timeout: Int64
    /// True if users who are not operators may refer to it in their tasks.
    public var isForGuests: Bool

    public init(name: String, arguments: [String], timeout: Int64 = 60, isForGuests: Bool = false) {
        self.name = name
        self.arguments = arguments
        self.timeout = timeout
        self.isForGuests = isForGuests
    }
}
