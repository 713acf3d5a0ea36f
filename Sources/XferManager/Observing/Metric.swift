import XferCore
import XferModel

/// Every metric of the service.
///
/// `docs/reference/metrics.md` is generated from this list. Other metrics cannot be recorded.
public enum Metric {
    public static let all: [MetricFamily] =
        tasks + traffic + database + surroundings + callers + processes

    static let groupLimit = 50
    static let hostLimit = 100
    static let policyLimit = 100
    static let webhookLimit = 100
    static let directoryLimit = 16

    // MARK: Tasks

    private static let tasks = [
        tasksByState, waitingTasks, groupTasks, tasksAdded, tasksEnded, taskFailures, hostFailures, retries,
        queueWait, runDuration, runningTransfers, queuePaused,
    ]
    private static let unfinished = TaskState.allCases.filter { !$0.isTerminal }.map(\.rawValue)
    private static let durations: [Double] = [0.01, 0.1, 1, 5, 30, 60, 300, 1800, 3600, 21_600, 86_400]

    static let tasksByState = MetricFamily(
        .gauge, "xferd_tasks", "Tasks in the database, by state.",
        labels: [.one("state", of: TaskState.allCases.map(\.rawValue))])
    static let waitingTasks = MetricFamily(
        .gauge, "xferd_waiting_tasks", "Waiting tasks by the reason of the wait.",
        labels: [.one("reason", of: WaitReason.allCases.map(\.rawValue))])
    /// A group is one owner's, so the two labels have as many values as there are groups.
    static let groupTasks = MetricFamily(
        .gauge, "xferd_group_tasks", "Unfinished tasks of the largest groups, by owner, group and state.",
        labels: [.any("uid", upTo: 1), .any("group", upTo: groupLimit), .one("state", of: unfinished)],
        isPrivate: true)
    static let tasksAdded = MetricFamily(.counter, "xferd_tasks_added_total", "Tasks added.")
    static let tasksEnded = MetricFamily(
        .counter, "xferd_tasks_ended_total", "Tasks that ended, by their state.",
        labels: [.one("state", of: TaskState.allCases.filter(\.isTerminal).map(\.rawValue))])
    static let taskFailures = MetricFamily(
        .counter, "xferd_task_failures_total", "Tasks that failed, by the reason of their error.",
        labels: [.one("reason", of: FailureReason.allCases.map(\.rawValue))])
    static let hostFailures = MetricFamily(
        .counter, "xferd_host_failures_total",
        "Tasks that failed, by host. Only the hosts that failed last are counted; a host that returns begins at zero.",
        labels: [.any("host", upTo: hostLimit)], isPrivate: true)
    static let retries = MetricFamily(
        .counter, "xferd_retries_total", "Failed attempts that were followed by another one.")
    static let queueWait = MetricFamily(
        .histogram, "xferd_queue_wait_seconds", "Time from a task's add to its first start.", bounds: durations)
    static let runDuration = MetricFamily(
        .histogram, "xferd_run_duration_seconds",
        "Time from a task's start to its end, or to the wait for another attempt.", bounds: durations)
    static let runningTransfers = MetricFamily(
        .gauge, "xferd_running_transfers", "Transfers that run now.")
    static let queuePaused = MetricFamily(
        .gauge, "xferd_queue_paused", "1 while an operator has paused the queue, else 0.")

    // MARK: Traffic

    private static let traffic = [
        receivedBytes, sentBytes, receiveRate, sendRate, runningRequests, requests, connectionsMade, hosts, hostWindow,
        hostTransfers, hostRefusals, loopStalls, loopStalled,
    ]

    static let receivedBytes = MetricFamily(
        .counter, "xferd_received_bytes_total", "Bytes of response bodies received, counted as they arrive.")
    static let sentBytes = MetricFamily(
        .counter, "xferd_sent_bytes_total", "Bytes of request content sent, counted as they leave.")
    static let receiveRate = MetricFamily(
        .gauge, "xferd_receive_bytes_per_second", "Bytes per second that transfers receive now.")
    static let sendRate = MetricFamily(
        .gauge, "xferd_send_bytes_per_second", "Bytes of content per second that transfers send now.")
    static let runningRequests = MetricFamily(
        .gauge, "xferd_running_requests", "HTTP requests in progress; a download in segments makes several.")
    static let requests = MetricFamily(.counter, "xferd_requests_total", "HTTP requests that have ended.")
    static let connectionsMade = MetricFamily(
        .counter, "xferd_connections_made_total", "Connections made for requests; other requests reused a connection.")
    static let hosts = MetricFamily(
        .gauge, "xferd_hosts", "Hosts in use now or recently, by the reason why their windows do not grow.",
        labels: [.one("reason", of: OriginWindow.Reason.allCases.map(\.rawValue))])
    static let hostWindow = MetricFamily(
        .gauge, "xferd_host_window", "Present limit of concurrent transfers by host; only the hosts with the highest.",
        labels: [.any("host", upTo: hostLimit)], isPrivate: true)
    static let hostTransfers = MetricFamily(
        .gauge, "xferd_host_transfers", "Present transfers by host; only the hosts with the most.",
        labels: [.any("host", upTo: hostLimit)], isPrivate: true)
    static let hostRefusals = MetricFamily(
        .gauge, "xferd_host_refusals",
        "Requests that a host refused because of too many others, as far as xferd remembers.",
        labels: [.any("host", upTo: hostLimit)], isPrivate: true)
    static let loopStalls = MetricFamily(
        .counter, "xferd_loop_stalls_total", "Turns of the transfer threads that took longer than 0.1 seconds.")
    static let loopStalled = MetricFamily(
        .counter, "xferd_loop_stalled_seconds_total", "Time that these turns took.")

    // MARK: Database

    private static let database = [
        degraded, damagedRows, databaseBytes, logBytes, checkpointAge, waitingWrites, commitDuration, commitChanges,
    ]

    static let degraded = MetricFamily(
        .gauge, "xferd_degraded",
        "1 while the database cannot be written, or a trust policy is not in force, else 0.")
    static let damagedRows = MetricFamily(
        .gauge, "xferd_damaged_rows",
        "Profiles, tokens, trust policies and tasks whose rows in the database are damaged.")
    static let databaseBytes = MetricFamily(.gauge, "xferd_database_bytes", "Length of the database file.")
    static let logBytes = MetricFamily(.gauge, "xferd_log_bytes", "Length of the database's write-ahead log.")
    static let checkpointAge = MetricFamily(
        .gauge, "xferd_log_checkpoint_age_seconds",
        "Time since pages of the log were moved into the database, or since the start.")
    static let waitingWrites = MetricFamily(
        .gauge, "xferd_waiting_writes", "Changes of the database that wait for a commit.")
    static let commitDuration = MetricFamily(
        .histogram, "xferd_commit_duration_seconds", "Time from the start of a transaction until it is durable.",
        bounds: [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5])
    static let commitChanges = MetricFamily(
        .histogram, "xferd_commit_changes", "Changes that were committed together.",
        bounds: [1, 2, 5, 10, 50, 100, 500, 1000])

    // MARK: Surroundings

    private static let surroundings = [
        diskFree, diskSize, diskReserve, failedURLs, cacheEntries, cacheBytes, cacheLimit, webhookDiscards,
        webhookFailing, policyExpiry, clockSteps, reloadSuccess,
    ]

    static let diskFree = MetricFamily(
        .gauge, "xferd_disk_free_bytes", "Bytes that xferd can still write, by directory: its own and the roots.",
        labels: [.any("directory", upTo: directoryLimit)], isPrivate: true)
    static let diskSize = MetricFamily(
        .gauge, "xferd_disk_size_bytes", "Size of the directory's file system.",
        labels: [.any("directory", upTo: directoryLimit)], isPrivate: true)
    static let diskReserve = MetricFamily(
        .gauge, "xferd_disk_reserve_bytes", "Bytes that stay free on every file system (download.reserve).")
    static let failedURLs = MetricFamily(.gauge, "xferd_failed_urls", "Entries of the failed-URL list.")
    static let cacheEntries = MetricFamily(.gauge, "xferd_cache_entries", "Responses in the cache.")
    static let cacheBytes = MetricFamily(.gauge, "xferd_cache_bytes", "Bytes of these responses.")
    static let cacheLimit = MetricFamily(.gauge, "xferd_cache_limit_bytes", "Highest number of bytes in the cache.")
    static let webhookDiscards = MetricFamily(
        .counter, "xferd_webhook_discards_total",
        "Deliveries to webhooks that were discarded because too many events of their user waited.")
    static let webhookFailing = MetricFamily(
        .gauge, "xferd_webhook_failing", "1 while a webhook's receiver has not accepted the last delivery, else 0.",
        labels: [.any("webhook", upTo: webhookLimit)], isPrivate: true)
    static let policyExpiry = MetricFamily(
        .gauge, "xferd_policy_expiry_timestamp_seconds",
        "Earliest expiry of a trust policy's pins, in seconds since 1970.",
        labels: [.any("policy", upTo: policyLimit)], isPrivate: true)
    public static let reloadSuccess = MetricFamily(
        .gauge, "xferd_config_last_reload_successful",
        "1 if the whole configuration file is in force as it was last read, else 0.")
    static let clockSteps = MetricFamily(
        .counter, "xferd_clock_steps_total", "Times that the wall clock was set while xferd ran.")

    // MARK: Callers

    private static let callers = [
        rpcCalls, rpcDuration, rpcClients, eventSubscribers, eventBacklog, gatewayRefusals, refusedSeries,
    ]

    private static let methodLimit = 200
    public static let rpcCalls = MetricFamily(
        .counter, "xferd_rpc_calls_total", "RPC calls answered, by method and outcome.",
        labels: [.any("method", upTo: methodLimit), .one("outcome", of: ["ok", "error"])])
    public static let rpcDuration = MetricFamily(
        .histogram, "xferd_rpc_call_duration_seconds", "Time from an RPC call's begin to its answer, by method.",
        labels: [.any("method", upTo: methodLimit)], bounds: [0.001, 0.01, 0.1, 1, 10])
    public static let rpcClients = MetricFamily(
        .gauge, "xferd_rpc_clients", "Connections of clients, by kind of connection.",
        labels: [.one("transport", of: ["unix", "network"])])
    static let eventSubscribers = MetricFamily(
        .gauge, "xferd_event_subscribers", "Open streams of events.")
    static let eventBacklog = MetricFamily(
        .gauge, "xferd_event_backlog", "Events that wait for the slowest reader of a stream.")
    public static let gatewayRefusals = MetricFamily(
        .counter, "xferd_gateway_refusals_total", "Requests over the network that were refused, by reason.",
        labels: [.any("why", upTo: 20)])
    public static let refusedSeries = MetricFamily(
        .counter, "xferd_metrics_refused_series_total", "Series that were left out, because there were too many.")

    // MARK: The process

    // Not process_…, Prometheus' names: as a text file they would collide with those of node_exporter itself.

    private static let processes = [
        info, startTime, openDescriptors, maxDescriptors, residentMemory, virtualMemory, processorTime,
    ]

    public static let info = MetricFamily(
        .gauge, "xferd_info", "Always 1; the label is the version.", labels: [.any("version", upTo: 1)])
    public static let startTime = MetricFamily(
        .gauge, "xferd_process_start_time_seconds", "Start of the process, in seconds since 1970.")
    public static let openDescriptors = MetricFamily(
        .gauge, "xferd_process_open_fds", "File descriptors that are open.")
    public static let maxDescriptors = MetricFamily(
        .gauge, "xferd_process_max_fds", "File descriptors that may be open (RLIMIT_NOFILE).")
    public static let residentMemory = MetricFamily(
        .gauge, "xferd_process_resident_memory_bytes", "Memory of the process that is in use.")
    public static let virtualMemory = MetricFamily(
        .gauge, "xferd_process_virtual_memory_bytes", "Size of the process's address space.")
    public static let processorTime = MetricFamily(
        .counter, "xferd_process_cpu_seconds_total", "Processor time of the process, of user and system.")
}
