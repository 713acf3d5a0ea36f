import { formatCount, formatLimit, formatMoment, formatRate, formatSize } from "./format.js";

/** What the daemon's words mean, for people. Words that are not here are shown as they are. */

export const STATES = {
    queued: "queued", waiting: "waiting", running: "running", paused: "paused", staged: "staged",
    completed: "done", failed: "failed", cancelled: "cancelled",
};

export const PHASES = {
    connecting: "connecting", transferring: "transferring", verifying: "verifying the checksum",
    processing: "a hook works on the file", publishing: "publishing the file",
};

const WAITS = {
    retry: "waits for its next attempt", network: "waits for the network", schedule: "waits for its time",
    insufficient_space: "waits for space on the disk", destination_unavailable: "waits for its directory",
    source_expired: "waits for another URL: its present one has expired", dependency: "waits for other tasks",
    lease: "waits for its lease, which has ended", host_cooldown: "waits for its host's cooldown",
    storage: "the database cannot be written, or a trust policy is damaged",
    out_of_descriptors: "waits for free file descriptors",
    suspect: "not started because xferd crashed with it; retry starts it",
    queue_paused: "the queue is paused", group_paused: "its group is paused",
    host_full: "its host is at its limit", group_full: "its group is at its limit",
    profile_full: "its profile is at its limit", queue_full: "waits for its turn",
    run_ending: "its previous run is stopping",
    no_node: "no node may take it", node_down: "its node is down",
};

const HOSTS = {
    growing: "grows", most: "is at its limit", refused: "refuses more", no_gain: "more is not faster",
    silent: "does not answer", shared_address: "shares its address's connections",
};

/** `example.org: 6 of 6 at once, http/1.1, 22 ms, is at its limit`: its own limits, else what limits its window. */
export function hostText(host) {
    const limits = [
        host.max_connections && `at most ${formatCount(host.max_connections)} connections`,
        host.requests_per_minute && `at most ${formatCount(host.requests_per_minute)} requests a minute`,
    ].filter(Boolean);
    return [
        `${host.host}: ${host.active} of ${host.window} at once`, host.protocol,
        host.latency_ms === undefined ? null : `${host.latency_ms} ms`,
        ...(limits.length > 0 ? limits : [HOSTS[host.reason]]),
    ].filter(Boolean).join(", ");
}

/** `waits for its time until 22:00:00`. */
export function waitText({ reason, until, detail, limit }) {
    if (limit) return `${WAITS[reason] ?? reason}: ${limit} at once`;
    const text = detail ? `${WAITS[reason] ?? reason} (${detail})` : (WAITS[reason] ?? reason);
    return until ? `${text} ${reason === "retry" ? "at" : "until"} ${formatMoment(until)}` : text;
}

const ADVICE = [
    ["Check the host's name in the URL and that DNS works there, then retry.", "dns_failure"],
    ["Check that the server is up and can be reached, then retry.",
        "connect_failed network_unreachable connect_timeout"],
    ["Retry: it continues from the kept bytes.", "connection_lost idle_timeout too_slow short_body range_mismatch"],
    ["Give it more time when you add it, or retry.", "total_timeout"],
    ["Have the server's certificate fixed, or add its authority to trust.ca_file.", "trust_rejected"],
    ["Do not continue before you know why the server has another key than the pinned one.", "pin_mismatch"],
    ["Have the server staple a current OCSP response: its policy requires one.", "revocation_unknown"],
    ["Restore the trust policy, or add the task again with another one.", "policy_missing"],
    ["Check the URL. When the server has the file again, retry.", "http_status"],
    ["Add it again with the right credential.", "auth_failed"],
    ["Tell the server's operator that its answer violates HTTP. Retry repeats the request.", "protocol_error invalid_framing"],
    ["Check the checksum of the task, or ignore the digests that the server announces; the failure says which of "
        + "them differed. Retry fetches it again.", "length_mismatch checksum_mismatch"],
    ["Have results.max_ratio raised, or request no content coding.", "expansion_limit"],
    ["Allow more with `xferctl update --max-size`, then retry.", "too_large"],
    ["Use the final URL, or allow the redirect when you add it.",
        "too_many_redirects redirect_denied insecure_redirect"],
    ["Ask the operator of xferd: the configuration refuses this.", "rejected_by_policy"],
    ["Check what the URL serves now, or accept more types when you add it again.", "unacceptable_type"],
    ["Check what the URL serves now, perhaps behind a sign-in page. The received bytes are kept; retry repeats the request.",
        "unexpected_answer"],
    ["Check the server's answer with `xferctl result`.", "parse_failed upload_rejected"],
    ["Add it again, with a copy of the file (spool) if the file keeps changing.", "source_file_changed"],
    ["Send the content from a regular file, or allow no redirects.", "body_not_rewindable"],
    ["Check whether the server carried it out. If not, retry.", "outcome_unknown"],
    ["Restore the credential's file, variable or profile, then retry.", "credential_missing"],
    ["Choose another name or another action for a name that is taken, and add it again.", "destination_exists"],
    ["Choose a directory below one of the daemon's roots that its user may write to.", "destination_denied"],
    ["Mount or create the directory, then retry.", "destination_unavailable"],
    ["Move the directory back to where it was, then retry.", "destination_changed"],
    ["Make room on the disk, then retry.", "insufficient_space"],
    ["Give the file another name, then retry.", "name_refused"],
    ["Choose a directory on a file system for large files, or raise the daemon's limit of file sizes.", "file_too_large"],
    ["Check the disk of the daemon's machine, then retry.", "disk_error"],
    ["Check the permissions of the directory, then retry.", "file_move_failed"],
    ["Raise the daemon's limit of open files, then retry.", "out_of_descriptors"],
    ["Check the hook's output in the daemon's log, then retry: nothing is fetched again.", "post_process_failed"],
    ["Retry: the deadline no longer applies.", "deadline_exceeded"],
    ["Repair the task it waited for. When that has completed, retry.", "dependency_failed"],
    ["Retry repeats the request although the URL is on the list of failed URLs.", "blocked_url"],
    ["Add it again with a cache policy that may ask the server.", "only_if_cached_miss"],
    ["Read the daemon's log, then retry.", "internal_error"],
];

const ADVICE_OF_REASON = new Map(
    ADVICE.flatMap(([advice, reasons]) => reasons.split(" ").map((reason) => [reason, advice])));

const ADVICE_OF_CAUSE = {
    tls_version: "Have the server offer TLS 1.2 or later, or lower the trust policy's minimum, then retry.",
    tls_parameters: "Have the server's TLS updated, then retry.",
    client_certificate_required: "Give the task a client certificate (cert and key), then retry.",
    client_certificate_refused: "Ask the server's operator which client certificates it accepts.",
    unknown_server_name: "Check the host's name in the URL.",
    not_tls: "Add it again with http:// in place of https://, or with another port.",
    tls_expected: "Add it again with https:// in place of http://.",
    not_http: "Check the scheme and the port of the URL: the answer is not HTTP.",
    self_signed: "If you know that this is the server's key, pin it with a trust policy (operators), then retry.",
    unknown_authority: "If you know that this is the server's key, pin it with a trust policy (operators), then retry.",
    wrong_host_name: "Use a name that the server's certificate has.",
    certificate_dates: "Have the server's certificate renewed, and check the clock of the daemon's machine.",
    announced_digest: "The server announces this digest itself: it, or the file, is wrong.",
    shared_digest: "Check the checksum of the other task for the same file, then retry.",
    web_page: "Check what the URL serves now, perhaps behind a sign-in page, then retry.",
    unproven_beginning: "Add it again with a checksum, or under another name.",
    proxy_negotiate: "Log in at the proxy with Negotiate (a Kerberos ticket of the daemon's user), then retry.",
    proxy_login_unsupported: "Ask the proxy's operator for a login by Basic, Digest or Negotiate.",
};

/** What to do about a failure. */
export function adviceFor({ reason, cause, proxy }) {
    if (cause in ADVICE_OF_CAUSE) return ADVICE_OF_CAUSE[cause];
    if (proxy) {
        return reason === "auth_failed" ? "Give the task a login for its proxy, then retry."
            : `Check the proxy ${proxy}, or set another proxy, then retry.`;
    }
    return ADVICE_OF_REASON.get(reason) ?? "";
}

export const NETWORKS = {
    offline: "network offline", metered: "network metered", unmetered: "network online", unknown: "network unknown",
};

/** What a task is called: by its label, its file, or its URL. */
export function nameOf({ id, label, output, final_path: path, url }) {
    const last = (text) => text?.replace(/[?#].*$/, "").split("/").filter(Boolean).at(-1);
    return label ?? path?.split("/").at(-1) ?? output?.split("/").at(-1) ?? last(url) ?? `task ${id}`;
}

const TEXTS_OF_EVENTS = {
    "task.added": () => "added",
    "task.restored": ({ received }) => `continues after a restart with ${formatSize(received)}`,
    "task.started": ({ attempt, offset }) =>
        offset > 0 ? `attempt ${attempt} began at ${formatSize(offset)}` : `attempt ${attempt} began`,
    "task.response": ({ status, total, resumed }) => [
        `the server answered ${status}`, total === null ? null : formatSize(total),
        resumed ? "kept bytes are continued" : null,
    ].filter(Boolean).join(", "),
    "task.redirected": ({ to }) => `redirected to ${to}`,
    "task.waiting": ({ wait, error }) => (error ? `${waitText(wait)}: ${error.message}` : waitText(wait)),
    "task.paused": ({ received }) => `paused at ${formatSize(received)}`,
    "task.resumed": () => "queued again",
    "task.source_changed": ({ reason, dropped }) =>
        `the source changed (${reason}): ${formatSize(dropped)} discarded; it begins again`,
    "task.bytes_discarded": ({ reason, dropped }) => `${formatSize(dropped)} discarded: ${reason}`,
    "task.warning": ({ warning }) => `warning: ${warning}`,
    "cache.hit": () => "a cached response is used",
    "task.refreshed": () => "the server sent a newer response",
    "task.not_modified": () => "the cached response is current",
    "task.staged": () => "staged: complete, and waiting for its commit",
    "task.completed": ({ path, size, warning }) =>
        `done: ${[path, formatSize(size), warning].filter(Boolean).join(", ")}`,
    "task.failed": ({ error }) => `failed: ${error.message}`,
    "task.cancelled": () => "cancelled",
    "task.superseded": ({ by }) => `cancelled: task ${by} took its slot`,
    "task.removed": () => "removed",
};

/** One line of a task's time line. */
export const eventText = (event) => TEXTS_OF_EVENTS[event.type]?.(event) ?? event.type;

/** The limits of a group, in words. */
export const limitText = ({ max_active: active, max_recv_rate: receive, max_send_rate: send }) => [
    active ? `${active} at once` : null,
    receive ? `receives ${formatLimit(receive)}` : null,
    send ? `sends ${formatRate(send)}` : null,
].filter(Boolean).join(", ");

/** Each limit of the queue, and what sets it, as `xferctl limit` says it. */
export function limitTexts({ automatic = [], overridden = [], timetabled = [], timetable_until: until, ...limits }) {
    const origin = (name) => (overridden.includes(name) ? ", set by a client (xferctl limit, the page, aria2)" : "");
    const count = (name) => (automatic.includes(name) ? null : `${formatCount(limits[name])}${origin(name)}`);
    const rate = (name) => {
        const text = formatLimit(limits[name]);
        if (origin(name)) return text + origin(name);
        if (!timetabled.includes(name)) return limits[name] > 0 ? `${text}, set by the configuration` : text;
        return `${text}, by the timetable${until ? ` until ${formatMoment(until)}` : ""}`;
    };
    return [
        `At once: ${count("max_active") ?? "automatic: 100 small, 6 large"}`,
        `Per host: ${count("max_active_per_host") ?? "automatic: see Hosts"}`,
        `Order: ${limits.order}${origin("order")}`,
        `Receiving: ${rate("max_recv_rate")}`,
        `Sending: ${rate("max_send_rate")}`,
    ];
}
