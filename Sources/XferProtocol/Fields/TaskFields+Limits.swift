import StrictJSON
import XferModel

/// The fields of the task's retries and rates.
extension TaskFields {
    static let retries: [ChoiceField<TaskSpecification.Limits>] = [
        ChoiceField(
            "max_retries", \.maxRetries, task: "Attempts after the first; default unlimited within retry_for.",
            record: "Attempts after the first; absent is unlimited within retry_for.",
            change: .anytime("Attempts after the first; null is unlimited.", isNullable: true),
            limits: [.range(0...1_000_000)]),
        ChoiceField(
            "retry_for", \.retryFor, task: retryFor, record: retryFor, change: .anytime(retryFor),
            limits: [.range(0...TaskLimits.longestWait)]),
        ChoiceField(
            "retry_non_idempotent", \.retriesNonIdempotent,
            task: "True to repeat a POST or PATCH that failed after it was sent, although the server may have "
                + "acted on it; default false.",
            record: "True if a request that is not idempotent is repeated after a failure.",
            change: .anytime("True if a request that is not idempotent is repeated after a failure.")),
    ]

    static let rates: [ChoiceField<TaskSpecification.Limits>] = [
        ChoiceField(
            "max_recv_rate", \.maxReceiveRate,
            task: "Bytes per second it may receive; 0, the default, is unlimited.",
            record: "Bytes per second it may receive; 0 is unlimited.",
            change: .anytime("Bytes per second it may receive; 0 is unlimited."),
            limits: [.range(0...TaskLimits.highestRate)]),
        ChoiceField(
            "max_send_rate", \.maxSendRate, task: "Bytes per second it may send; 0, the default, is unlimited.",
            record: "Bytes per second it may send; 0 is unlimited.",
            change: .anytime("Bytes per second it may send; 0 is unlimited."),
            limits: [.range(0...TaskLimits.highestRate)]),
    ]

    static let progress: [ChoiceField<TaskSpecification.Limits>] = [
        ChoiceField(
            "progress_interval", \.progressInterval,
            task:
                "Minimum seconds between task.progress events; default 0.5.",
            record: "Minimum seconds between task.progress events.",
            change: .anytime("Minimum seconds between task.progress events."), limits: [.number(0.1...3600)])
    ]

    /// The part of its source that a download fetches, and how.
    static let extent: [ChoiceField<TaskSpecification.Limits>] = [
        ChoiceField(
            "segments", \.segments,
            task:
                "For a download: number of parts that are fetched at the same time, each over a connection of its own, "
                + "if the server supports it; auto measures how many help. Default is download.segments.",
            record: "Number of parts that are fetched at the same time; absent is the service's default.",
            change: .stopped(
                "Number of parts of a download that are fetched at the same time; null is download.segments; only while the task is not running.",
                isNullable: true),
            isOfDownloads: true, example: 4),
        ChoiceField(
            "range", \.range,
            task:
                "For a download with GET: the part of the source to fetch. A checksum applies to the part. If the server sends "
                + "the whole source, the task fails. Not allowed with caching.",
            record: "The part of the source that is fetched; absent is all of it.", isOfDownloads: true,
            example: "0-1023"),
        ChoiceField(
            "max_size", \.maxSize,
            task:
                "For a download: its greatest length in bytes. A larger one fails with too_large, and its "
                + "bytes are deleted. Default is unlimited.",
            record: "The greatest length in bytes; absent is unlimited.",
            change: .stopped(
                "The greatest length of a download in bytes; null is unlimited; only while the task is not running.",
                isNullable: true),
            isOfDownloads: true, limits: [.range(1...ByteCount.greatest)]),
    ]

    private static let retryFor =
        "Seconds without progress for which it is retried; pauses and other waits do not count."
}
