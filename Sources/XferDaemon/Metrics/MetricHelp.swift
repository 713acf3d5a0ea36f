/// `# HELP` texts of the service's metrics, by the name that is written.
enum MetricHelp {
    static let texts = [
        "xferd_received_bytes_total": "Bytes of response bodies received, while they move.",
        "xferd_retries_total": "Failed tries that are followed by another one.",
        "xferd_running_transfers": "Transfers that run now.",
        "xferd_sent_bytes_total": "Bytes of request content sent, while they move.",
        "xferd_tasks_added_total": "Tasks added.",
        "xferd_tasks_ended_total": "Tasks that ended, by their state.",
    ]
}
