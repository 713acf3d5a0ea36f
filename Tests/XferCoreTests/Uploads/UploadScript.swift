import Testing
import XferCore
import XferModel

/// Drives an upload's machine by hand, one answer after another.
struct UploadScript<Machine: UploadMachine> {
    var machine: Machine
    let now = Timestamp(seconds: 1_700_000_000)
    /// What a restart would find.
    private(set) var recorded: UploadResumeData?

    init(_ machine: Machine, recorded: UploadResumeData? = nil) {
        self.machine = machine
        self.recorded = recorded
    }

    mutating func start() -> UploadAction { take { $0.onStart(at: $1) } }

    mutating func answer(_ status: Int, _ fields: [String: String] = [:], at location: HTTPURL? = nil) -> UploadAction {
        take { $0.onAnswer(.of(status, fields), location: location, at: $1) }
    }

    mutating func interim(_ fields: [String: String], at location: HTTPURL? = nil, status: Int = 104) -> UploadAction {
        take { $0.onInterim(.of(status, fields), location: location, at: $1) }
    }

    mutating func broken(_ reason: FailureReason = .connectionLost, wasSent: Bool = true) -> UploadAction {
        take { machine, _ in machine.onBroken(TransferError(reason, "gone"), wasSent: wasSent) }
    }

    mutating func interrupted() -> UploadAction { take { machine, _ in machine.onInterrupted() } }

    private mutating func take(_ event: (inout Machine, Timestamp) -> UploadStep) -> UploadAction {
        let step = event(&machine, now)
        switch step.record {
        case .unchanged: break
        case .keep(let data): recorded = data
        case .forget: recorded = nil
        }
        return step.action
    }
}

extension ResponseHead {
    static func of(_ status: Int, _ fields: [String: String] = [:]) -> ResponseHead {
        ResponseHead(status: status, fields: fields.map { HeaderField(name: $0.key, value: $0.value) })
    }
}

extension UploadAction {
    var request: UploadRequest? { if case .send(let request) = self { request } else { nil } }
    var error: TransferError? { if case .fail(let error) = self { error } else { nil } }
    /// Whether the machine rejected the upload for good.
    var isRejection: Bool { error?.reason == .uploadRejected && error?.isRetriable == false }

    /// Method, path and content, for instance `PATCH /u 5..<9`.
    var summary: String {
        guard let request else { return "\(self)" }
        return "\(request.method.rawValue) \(request.url.target)" + (request.content.map { " \($0)" } ?? "")
    }

    func header(_ name: String) -> String? { request?.headers.firstValue(named: name) }
}

extension HTTPURL {
    static func path(_ target: String) -> HTTPURL { HTTPURL(scheme: .http, host: "h", port: 80, target: target) }
}
