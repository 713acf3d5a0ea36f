"""The records of the wire.

scripts/generate-python-client writes this file from rpc-schema/openrpc.json.
"""
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

from ._values import Time, UnknownEvent, listed, optional, parse_time


TaskKind = Literal["download", "upload", "data"]


HeaderChanges = Mapping[str, Union[Optional[str], Sequence[str]]]
"""Header fields by name; an array repeats a field, null removes the profile's field."""


FormCharset = Literal[
    "utf-8",
    "us-ascii",
    "iso-8859-1",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-9",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "koi8-r",
    "koi8-u",
    "shift_jis",
    "euc-jp",
    "euc-kr",
    "gbk",
    "gb18030",
    "big5",
]


HeaderList = Mapping[str, Union[str, Sequence[str]]]
"""Header fields by name; an array where a field is repeated."""


UploadProtocol = Literal["plain", "tus", "resumable"]


ConflictPolicy = Literal["rename", "overwrite", "skip", "fail", "update", "verify", "continue"]


Priority = Literal["low", "normal", "high"]


FinalizeMode = Literal["auto", "manual"]


TaskReference = int
"""A task's id. Within a task.add, a negative number counts back from the task's position in tasks.
"""


Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


BatchID = int
"""Identifies a batch; never reused."""


ResumeMode = Literal["auto", "unsafe"]


RedirectPolicy = Literal["follow", "same_origin", "deny"]


HTTPVersion = Literal["auto", "1.1", "2"]


AnnouncedDigests = Literal["verify", "ignore"]


ResponseParser = Literal["json"]


CredentialScheme = Literal["basic", "digest", "bearer", "netrc", "sigv4", "negotiate"]


CachePolicy = Literal[
    "protocol",
    "reload",
    "reload_all",
    "prefer_cache",
    "only_if_cached",
    "revalidate",
]


IPVersion = Literal["any", "4", "6"]


TaskID = int
"""Identifies a task; never reused."""


Owner = int
"""The uid of the process that added the task."""


TaskState = Literal[
    "queued",
    "waiting",
    "running",
    "paused",
    "staged",
    "completed",
    "failed",
    "cancelled",
]


TaskPhase = Literal["connecting", "transferring", "verifying", "processing", "publishing"]


WaitReason = Literal[
    "retry",
    "network",
    "schedule",
    "insufficient_space",
    "destination_unavailable",
    "source_expired",
    "dependency",
    "lease",
    "host_cooldown",
    "storage",
    "out_of_descriptors",
    "suspect",
    "queue_paused",
    "group_paused",
    "host_full",
    "group_full",
    "profile_full",
    "queue_full",
    "run_ending",
    "no_node",
    "node_down",
]


FailureReason = Literal[
    "dns_failure",
    "connect_failed",
    "network_unreachable",
    "connect_timeout",
    "connection_lost",
    "idle_timeout",
    "total_timeout",
    "too_slow",
    "trust_rejected",
    "pin_mismatch",
    "revocation_unknown",
    "policy_missing",
    "http_status",
    "auth_failed",
    "protocol_error",
    "invalid_framing",
    "short_body",
    "length_mismatch",
    "expansion_limit",
    "range_mismatch",
    "too_large",
    "checksum_mismatch",
    "too_many_redirects",
    "redirect_denied",
    "insecure_redirect",
    "rejected_by_policy",
    "unacceptable_type",
    "unexpected_answer",
    "parse_failed",
    "upload_rejected",
    "source_file_changed",
    "body_not_rewindable",
    "outcome_unknown",
    "credential_missing",
    "destination_exists",
    "destination_denied",
    "destination_unavailable",
    "destination_changed",
    "name_refused",
    "file_too_large",
    "insufficient_space",
    "disk_error",
    "file_move_failed",
    "out_of_descriptors",
    "post_process_failed",
    "deadline_exceeded",
    "dependency_failed",
    "blocked_url",
    "only_if_cached_miss",
    "internal_error",
]


FailureCause = Literal[
    "tls_version",
    "tls_parameters",
    "client_certificate_required",
    "client_certificate_refused",
    "unknown_server_name",
    "not_tls",
    "tls_expected",
    "not_http",
    "self_signed",
    "unknown_authority",
    "wrong_host_name",
    "certificate_dates",
    "announced_digest",
    "shared_digest",
    "web_page",
    "unproven_beginning",
    "proxy_negotiate",
    "proxy_login_unsupported",
]


TransferID = int
"""Identifies a transfer; never reused."""


FileSystemFeature = Literal["exclusive_rename", "hard_links", "unnamed_files"]


FileSystemNames = Literal["any", "windows", "unknown"]


BodySummaryForm = Literal["inline", "file", "parts"]


TaskColumns = Sequence[
    Literal[
    "id",
    "owner",
    "state",
    "phase",
    "wait",
    "error",
    "progress",
    "resumable",
    "transfer",
    "ranges",
    "staged_file",
    "discarded",
    "file_system",
    "digest",
    "url",
    "urls",
    "kind",
    "method",
    "headers",
    "body",
    "source",
    "upload",
    "spool",
    "chunk_size",
    "creation_with_upload",
    "upload_parts",
    "output",
    "dir",
    "on_conflict",
    "mode",
    "remote_time",
    "allow_hidden",
    "checksum",
    "priority",
    "group",
    "batch",
    "label",
    "client_key",
    "slot",
    "finalize",
    "post_process",
    "on_complete",
    "on_error",
    "on_end",
    "coalesce",
    "after",
    "not_before",
    "window",
    "deadline",
    "after_batch",
    "after_group",
    "lease",
    "max_retries",
    "retry_for",
    "retry_non_idempotent",
    "max_recv_rate",
    "max_send_rate",
    "segments",
    "range",
    "max_size",
    "resume",
    "profile",
    "redirect",
    "path_as_is",
    "max_redirects",
    "allow_downgrade",
    "http_version",
    "connect_timeout",
    "idle_timeout",
    "total_timeout",
    "min_recv_rate",
    "min_recv_time",
    "accept_status",
    "accept_types",
    "reject_html",
    "announced_digests",
    "parse",
    "strip_nulls",
    "credential",
    "client_cert",
    "cookies",
    "cookie_list",
    "proxy",
    "cache_policy",
    "store",
    "cache_key",
    "allow_metered",
    "ip_version",
    "interface",
    "ca_file",
    "resolve",
    "connect_to",
    "unix_socket",
    "progress_interval",
    "policy",
    "meta",
    "final_url",
    "final_path",
    "http_status",
    "response_headers",
    "etag",
    "content_encoding",
    "last_attempt",
    "attempts",
    "skipped",
    "not_modified",
    "warning",
    "created_at",
    "started_at",
    "finished_at",
    "abridged",
]]
"""Names of a task's fields; id is always returned."""


TaskListOrder = Literal["asc", "desc", "queue"]


OperationID = int
"""Identifies a background operation; never reused."""


TaskMovePosition = Literal["top", "bottom", "before", "after"]


TaskResultEncoding = Literal["utf-8", "base64"]


OperationVerb = Literal["pause", "resume", "cancel", "retry", "remove", "commit", "update"]


OperationState = Literal["running", "completed", "failed", "cancelled"]


QueueOrder = Literal["fifo", "lifo"]


HostProtocol = Literal["http/1.1", "http/2"]


HostReason = Literal[
    "growing",
    "unneeded",
    "most",
    "refused",
    "no_gain",
    "shared_address",
    "silent",
]


BatchEntry = Any
"""A URL, or an object with a task's fields as task.add takes them, except group and client_key.
Anything else is reported as an invalid entry.
"""


ListOrder = Literal["asc", "desc"]


CacheEntryID = int
"""Identifies an entry of the cache; never reused."""


FailedURLID = int
"""Identifies an entry of the failed-URL list; never reused."""


PolicyOrigin = Literal["built_in", "configuration", "rpc"]


TrustPolicyMode = Literal["none", "certificate", "public_key"]


TLSVersion = Literal["1.2", "1.3"]


ServerReportRecordServerVerdict = Literal["accepted", "refused", "unreachable"]


TrustStage = Literal["chain", "name", "dates", "revocation", "pins"]


ProfileOrigin = Literal["configuration", "rpc"]


CookieKeeping = Literal["none", "jar"]


EventType = Literal[
    "task.added",
    "task.restored",
    "task.started",
    "task.response",
    "task.redirected",
    "task.waiting",
    "task.paused",
    "task.resumed",
    "task.source_changed",
    "task.bytes_discarded",
    "task.warning",
    "cache.hit",
    "task.refreshed",
    "task.not_modified",
    "task.staged",
    "task.completed",
    "task.failed",
    "task.cancelled",
    "task.superseded",
    "task.removed",
    "batch.completed",
    "operation.progress",
    "operation.ended",
    "webhook.discarded",
    "queue.idle",
    "activity.changed",
    "network.changed",
    "policy.violation",
    "policy.expiring",
    "session.invalidated",
    "daemon.started",
    "daemon.stopping",
]


StrictTransportMode = Literal["upgrade", "deny", "off"]


EventName = Literal[
    "task.added",
    "task.restored",
    "task.started",
    "task.response",
    "task.redirected",
    "task.waiting",
    "task.paused",
    "task.resumed",
    "task.source_changed",
    "task.bytes_discarded",
    "task.warning",
    "cache.hit",
    "task.refreshed",
    "task.not_modified",
    "task.staged",
    "task.completed",
    "task.failed",
    "task.cancelled",
    "task.superseded",
    "task.removed",
    "batch.completed",
    "operation.progress",
    "operation.ended",
    "webhook.discarded",
    "queue.idle",
    "activity.changed",
    "network.changed",
    "policy.violation",
    "policy.expiring",
    "session.invalidated",
    "daemon.started",
    "daemon.stopping",
    "task.progress",
    "events.overflow",
    "fleet.task_released",
    "fleet.task_changed",
    "fleet.node_joined",
    "fleet.node_down",
    "fleet.node_draining",
    "fleet.node_undrained",
    "fleet.node_forgotten",
    "fleet.limit_changed",
    "fleet.created",
]


RedirectDecision = Literal["followed", "refused", "delivered", "upgraded"]


NetworkState = Literal["unknown", "offline", "metered", "unmetered"]


ShutdownMode = Literal["drain", "suspend", "cancel"]


TokenScope = Literal["metrics", "read", "add", "own", "operate"]


FleetNodeState = Literal["live", "silent", "down"]


class BodyInput(TypedDict, total=False):
    """Content of a request, in exactly one of these forms."""

    form: Mapping[str, Any]
    """A form (application/x-www-form-urlencoded), encoded like params; {} is an empty form."""

    charset: FormCharset
    """The encoding of the form's text, named in Content-Type unless headers has one; default utf-8.
    """

    json: Any
    """Any JSON; Content-Type is application/json unless headers has one."""

    raw: str
    """Text, sent as UTF-8; its type is set in headers."""

    base64: str
    """Bytes; their type is set in headers."""

    file: str
    """Absolute path of a file that is streamed; it must not change until it is sent."""


class PartInputRequired(TypedDict):
    """The fields that every PartInput has."""

    name: str
    """The form field's name."""


class PartInput(PartInputRequired, total=False):
    """One part of a multipart form: data, base64 or file."""

    data: str
    """Text, sent as UTF-8."""

    base64: str
    """Bytes."""

    file: str
    """Absolute path of a file that is streamed."""

    filename: str
    """File name sent to the server; default is the file's own name; none for data."""

    content_type: str
    """The part's media type."""

    headers: HeaderList
    """Further header fields of the part."""


class WindowRecord(TypedDict, total=False):
    """Times of day and days of the week at which the task may run, in the zone's local time."""

    times: Sequence[str]
    """Times of day, such as 22:00-06:00; the end is excluded, and is on the next day unless later
    than the start; default is the whole day.
    """

    days: Sequence[Weekday]
    """The days on which times begin; default is every day."""

    zone: str
    """A time zone's name such as Europe/Berlin; local, the default, is the machine's own."""


class CredentialRecord(TypedDict, total=False):
    """Credential. When shown, everything except scheme and origins is ***; in a profile, a secret's
    place is shown.
    """

    scheme: CredentialScheme
    """Authentication scheme; default basic."""

    user: str
    """User name (basic, digest), the access key's id (sigv4), or the account to look up (netrc)."""

    password: Union[str, SecretReference]
    """Password (basic, digest): text, or where it is read from at every attempt."""

    secret: Union[str, SecretReference]
    """The token (bearer), the secret access key (sigv4) or the netrc(5) file (netrc): text, or
    where it is read from.
    """

    region: str
    """The signature's region (sigv4), for example us-east-1."""

    service: str
    """The signature's service (sigv4); default s3."""

    origins: Sequence[str]
    """Origins to which it is sent, scheme://host[:port] each; default is the origin of the URL, or
    of a profile's base_url.
    """


class SecretReference(TypedDict, total=False):
    """Place from which the service reads a secret at every attempt; only operators may set one."""

    file: str
    """Absolute path of a file that only its owner can read; a newline at its end is ignored."""

    systemd: str
    """A credential of the unit (systemd.exec(5), LoadCredential=)."""

    env: str
    """A variable of the daemon's environment."""


class ClientCertificateRecord(TypedDict):
    """Files from which the service reads a client certificate."""

    certificate: str
    """Absolute path of the PEM file with the leaf and its intermediates."""

    key: str
    """Absolute path of the PEM file with its key, readable by its owner only."""


class CookieRecordRequired(TypedDict):
    """The fields that every CookieRecord has."""

    domain: str
    """The host to which the cookie is sent."""

    name: str
    """Its name."""

    value: str
    """Its value."""


class CookieRecord(CookieRecordRequired, total=False):
    """A cookie and the servers to which it is sent; its value is *** when shown."""

    include_subdomains: bool
    """True if the cookie is also sent to the host's subdomains; default false."""

    path: str
    """The path to which the cookie is sent, with all paths below it; default /."""

    secure: bool
    """True if the cookie is sent over https only; default false."""

    expires: int
    """Expiry in seconds since 1970; 0, the default, is never."""


class ProxyRecordFormRequired(TypedDict):
    """The fields that every ProxyRecordForm has."""

    url: str
    """http://, https://, socks5:// or socks5h:// with host and port; no user info."""


class ProxyRecordForm(ProxyRecordFormRequired, total=False):
    """A proxy, its login, and the hosts that are reached without it."""

    credential: CredentialRecord
    """Credential for the proxy; basic, digest or negotiate."""

    no_proxy: Sequence[str]
    """Hosts that are reached directly: names with their subdomains, addresses, CIDR blocks; * is
    all.
    """


class CacheKeyRecord(TypedDict, total=False):
    """Parts of URLs that the cache ignores; URLs that differ only in them are the same."""

    ignore_query: bool
    """Ignore the whole query."""

    ignore_params: Sequence[str]
    """Names of query parameters to ignore, spelled as in the URL; a * at the end matches any
    suffix.
    """

    host: str
    """A name that replaces scheme, host and port, so that mirrors of the same files share entries.
    """


class TaskOptions(TypedDict, total=False):
    """A new task: its request, its destination and its options. Without url and urls."""

    kind: TaskKind
    """download: the response is written to a file. data: it is stored for task.result. upload: like
    data, and source, body or parts are sent. Default download.
    """

    method: str
    """Any method except CONNECT and TRACE; for downloads, one of GET, POST, PUT, PATCH and DELETE.
    Default GET; POST if there is content, PUT for a plain upload of a file.
    """

    headers: HeaderChanges
    """Header fields to send; those that framing and resuming depend on (Range, Content-Length, …)
    are refused. null removes the profile's field.
    """

    params: Mapping[str, Any]
    """Parameters: for GET, HEAD and DELETE in the query, else as a form, or as the first parts.
    Keys are sorted; members are key[member], elements key[], null is a bare key.
    """

    body: BodyInput
    """Content of the request."""

    parts: Sequence[PartInput]
    """A multipart form in place of body."""

    source: str
    """For an upload: absolute path of the file; it must not change until it is sent."""

    upload: UploadProtocol
    """Protocol of the upload: plain (a retry starts over), tus (1.0) or resumable (IETF draft);
    default plain.
    """

    spool: bool
    """First copy the files to send, so that they may change afterwards; default false."""

    chunk_size: int
    """With upload tus: largest request in bytes, for proxies that limit contents; default
    upload.chunk_size.
    """

    creation_with_upload: bool
    """With upload tus: true to send the first bytes (up to 1 MiB) in the request that creates the
    upload, which saves a request for small files; default false.
    """

    upload_parts: int
    """With upload tus: the number of parts (at least 1 MiB each) sent at the same time. A server
    that does not join parts gets one upload; default 1.
    """

    output: str
    """The file's name, or a path: relative to dir, or absolute. By default the name comes from the
    server or the URL.
    """

    dir: str
    """Absolute path of the file's directory; default is the daemon's."""

    on_conflict: ConflictPolicy
    """Action if the name is taken: rename (name (1).ext), overwrite, skip, fail, update (fetch
    unless it is the current version and xferd fetched it), verify (fetch unless the file has the
    checksum), or continue (fetch the rest of what another program left); default rename.
    """

    mode: str
    """Permission bits of the file, octal text."""

    remote_time: bool
    """Give the file the server's Last-Modified time; default false."""

    allow_hidden: bool
    """Allow a path with a hidden component directly beneath a home directory, such as ~/.ssh;
    default false. Without the scope operate, a token cannot write to hidden paths.
    """

    checksum: str
    """The digest that the finished bytes must have: ALGORITHM=DIGEST with sha-256, sha-512,
    sha-384, sha-224, blake2b, sha-1 or md5, in hex or base64; hex alone, sha256-BASE64 or a line
    of a checksum file.
    """

    priority: Priority
    """Strict order of starting; default normal."""

    group: str
    """A group of yours, with which tasks can be paused, limited and selected."""

    label: str
    """Text for people; tasks can also be selected by it."""

    client_key: str
    """Makes the add safe to repeat: the same key with the same request returns the task that
    exists.
    """

    owner: str
    """The user for whom it is added, with that user's rights: a name or a decimal uid; default is
    the caller. All tasks of a call have the same owner.
    """

    slot: str
    """Slot name. Adding a task to a slot cancels the task that occupies it (task.superseded)."""

    finalize: FinalizeMode
    """For a download: auto publishes the file once it is complete and verified, manual keeps it
    staged until task.commit; default auto.
    """

    post_process: str
    """For a download: the operator's hook that processes the file before it is staged or published.
    """

    on_complete: str
    """The operator's hook that runs when the task has completed."""

    on_error: str
    """The operator's hook that runs when the task has failed."""

    on_end: Sequence[str]
    """Webhooks of the operator that get the event of the task's end, in addition to those that get
    such events anyway.
    """

    coalesce: bool
    """True to share one request with tasks that request the same; each gets its own copy. Default
    true.
    """

    paused: bool
    """Add it paused; default false."""

    after: Sequence[TaskReference]
    """Tasks that must complete first; if one ends otherwise, this task fails with
    dependency_failed. Negative numbers count back within the same call: -1 is the task before
    this one.
    """

    not_before: Time
    """Earliest start time."""

    window: WindowRecord
    """Times at which it may run; outside them it stops and waits."""

    deadline: Time
    """Time at which it fails with deadline_exceeded unless it has ended or is staged."""

    after_batch: BatchID
    """Batch whose members have to complete before it starts; if one ends otherwise, this task fails
    with dependency_failed. Members that were removed before do not count.
    """

    after_group: str
    """Group of the same owner: its tasks that are unfinished when this task is added must complete
    before it starts. If one ends otherwise, this task fails with dependency_failed.
    """

    lease: str
    """Name of a lease: the task runs, and its file is published, only while the lease is in force;
    see lease.renew.
    """

    max_retries: int
    """Attempts after the first; default unlimited within retry_for."""

    retry_for: int
    """Seconds without progress for which it is retried; pauses and other waits do not count."""

    retry_non_idempotent: bool
    """True to repeat a POST or PATCH that failed after it was sent, although the server may have
    acted on it; default false.
    """

    retry_failed: bool
    """True to request the URL even if it is on the failed-URL list; else the task fails at once
    with blocked_url. Default false.
    """

    max_recv_rate: int
    """Bytes per second it may receive; 0, the default, is unlimited."""

    max_send_rate: int
    """Bytes per second it may send; 0, the default, is unlimited."""

    segments: Union[int, Literal["auto"]]
    """For a download: number of parts that are fetched at the same time, each over a connection of
    its own, if the server supports it; auto measures how many help. Default is
    download.segments.
    """

    range: str
    """For a download with GET: the part of the source to fetch. A checksum applies to the part. If
    the server sends the whole source, the task fails. Not allowed with caching.
    """

    max_size: int
    """For a download: its greatest length in bytes. A larger one fails with too_large, and its
    bytes are deleted. Default is unlimited.
    """

    resume: ResumeMode
    """Resume of kept bytes without a validator: auto (default) starts over, unsafe continues."""

    profile: str
    """Profile that supplies fields left unset here; null in one of the following fields unsets the
    profile's value.
    """

    redirect: Optional[RedirectPolicy]
    """Redirects: follow (default) or deny. With deny the redirect's response is the result if
    accept_status allows its status.
    """

    path_as_is: bool
    """True if . and .. in its URLs' paths are sent unchanged; default false: they are resolved.
    Redirects are always resolved.
    """

    max_redirects: Optional[int]
    """Highest number of successive redirects; default 20."""

    allow_downgrade: Optional[bool]
    """True to allow redirects from https to http; default false."""

    http_version: Optional[HTTPVersion]
    """The protocol to use; default auto."""

    connect_timeout: Optional[float]
    """Seconds for name resolution, TCP and TLS; 0 is unlimited; default 30."""

    idle_timeout: Optional[float]
    """Seconds without a byte after which an attempt ends; 0 is never; default 15 for data, 60 for
    files.
    """

    total_timeout: Optional[float]
    """Seconds that one attempt may take; 0, the default, is unlimited."""

    min_recv_rate: Optional[int]
    """Minimum bytes per second of each connection, measured over min_recv_time; a slower one ends
    the attempt; 0 turns this off; default download.min_recv_rate.
    """

    min_recv_time: Optional[float]
    """Seconds over which min_recv_rate is measured; pauses of the service do not count; default
    download.min_recv_time.
    """

    accept_status: Optional[str]
    """Status codes of success: ranges and codes, separated by commas; default 200-299."""

    accept_types: Optional[Sequence[str]]
    """Accepted media types or ranges (image/*), or the presets json, xml, plist, image; default
    all.
    """

    reject_html: Optional[bool]
    """True to treat an answer with a web page (text/html) as a failure; default false."""

    announced_digests: Optional[AnnouncedDigests]
    """Treatment of digests that the server announces: verify or ignore; default verify."""

    parse: Sequence[ResponseParser]
    """For data and uploads: parsers of the response for task.result; the first that succeeds is
    used.
    """

    strip_nulls: bool
    """Remove null members of objects from the parsed response; default false."""

    credential: Optional[CredentialRecord]
    """Credential; sent only to its origins."""

    client_cert: Optional[ClientCertificateRecord]
    """Client certificate for servers of the URL's origin that request one; operators only."""

    cookies: Optional[bool]
    """True to send and keep the profile's cookies; default: the profile's. False also ignores
    cookies that a response sets for the next hop.
    """

    cookie_list: Sequence[CookieRecord]
    """Cookies of its own in place of a profile's, each sent to the servers to which it applies.
    Cookies that servers set apply to the attempt only.
    """

    proxy: Optional[Union[str, ProxyRecordForm]]
    """The proxy to go through."""

    cache_policy: Optional[CachePolicy]
    """Use of a cached response: protocol (RFC 9111), prefer_cache and only_if_cached (even if
    stale), revalidate (used at once, then validated), reload and reload_all (not used); default
    reload.
    """

    store: Optional[bool]
    """True to cache the response; the default depends on cache_policy."""

    cache_key: Optional[CacheKey]
    """Key of the URL in the cache: a text, or the parts of the URL to ignore."""

    allow_metered: Optional[bool]
    """True if it may use links that cost money (network.metered_interfaces); if false, it waits for
    another link. Default true.
    """

    ip_version: Optional[IPVersion]
    """Addresses to connect to: any, IPv4 or IPv6; default any."""

    interface: Optional[str]
    """The network interface or local address to connect from."""

    ca_file: str
    """Absolute path of a PEM file: the certificate authorities that are trusted in place of the
    daemon's; the trust policies still apply. For operators, and the file's owner.
    """

    resolve: Optional[Sequence[str]]
    """Addresses to use in place of the resolver's: HOST:PORT:ADDRESS[,ADDRESS]; * is any host."""

    connect_to: Optional[Sequence[str]]
    """Targets to connect to in place of hosts and ports: HOST:PORT:TARGET:TARGETPORT, each part may
    be empty; TLS and pins still check the URL's name.
    """

    unix_socket: str
    """Absolute path of the Unix socket through which the URL's host is reached, without a proxy.
    Other hosts, to which redirects lead, are reached as usual.
    """

    progress_interval: float
    """Minimum seconds between task.progress events; default 0.5."""

    policy: str
    """A trust policy that must accept every matching server in addition to the host's own; it must
    match the URL's host.
    """

    meta: Any
    """Any JSON of the client's own, returned unchanged."""


class NewTask(TaskOptions, total=False):
    """A new task: its request, its destination and its options."""

    url: str
    """URL to request: an absolute http or https URL, or one relative to the profile's base_url."""

    urls: Sequence[str]
    """In place of url, for downloads and data tasks with GET: mirrors of the same bytes, in order
    of preference. Fields that are bound to an origin (credential, client_cert, secret header
    fields) apply to the first one.
    """


@dataclass(frozen=True)
class TaskAddOne:
    """The new task, or the existing one."""

    task: TaskRecord
    """The task."""

    existing: Optional[bool] = None
    """True when client_key found a task with the same request."""

    seq: Optional[int] = None
    """The events of the added tasks have greater numbers: events.subscribe with this as since
    delivers all of them.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskAddOne:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            task=TaskRecord.from_wire(wire["task"]),
            existing=wire.get("existing"),
            seq=wire.get("seq"),
        )


@dataclass(frozen=True)
class TaskRecord:
    """A task: its request and its result."""

    id: TaskID
    """Identifies the task; never reused."""

    owner: Optional[Owner] = None
    """The uid of the process that added it."""

    state: Optional[TaskState] = None
    """State of the task."""

    phase: Optional[TaskPhase] = None
    """Present step of a running task."""

    wait: Optional[WaitRecord] = None
    """Reason why a waiting or queued task cannot start now."""

    error: Optional[FailureRecord] = None
    """Error with which it failed, or the error of the last attempt if it waits for a retry."""

    progress: Optional[ProgressRecord] = None
    """Progress of the task."""

    resumable: Optional[bool] = None
    """True if the received bytes can be continued after an interruption, as far as xferd knows."""

    transfer: Optional[TransferID] = None
    """The transfer that fetches its bytes, once it has started; tasks with the same transfer share
    a request. task.get returns it, listings only if it is in fields.
    """

    ranges: Optional[List[SegmentRecord]] = None
    """For a download in segments: the kept bytes of each, ascending; the bytes between them are
    missing. Only in task.get, if it is in fields.
    """

    staged_file: Optional[StagedFileRecord] = None
    """For a staged task: the file that waits for its name. Only in task.get, if it is in fields."""

    discarded: Optional[DiscardRecord] = None
    """The last time that received bytes of this download were discarded, as long as the event is
    stored. task.get returns it, listings only if it is in fields.
    """

    file_system: Optional[FileSystemRecord] = None
    """File system of its directory, if the daemon has used it. task.get returns it, listings only
    if it is in fields.
    """

    digest: Optional[str] = None
    """Digest of the published file: the one that was verified, or that task.record_digest recorded.
    task.get returns it, listings only if it is in fields.
    """

    url: Optional[str] = None
    """The requested URL, the first of urls; secrets in it are ***."""

    urls: Optional[List[str]] = None
    """Mirrors of the same bytes in order of preference, if there are any; final_url is the one that
    was used last.
    """

    kind: Optional[TaskKind] = None
    """Kind of the task."""

    method: Optional[str] = None
    """The request's method."""

    headers: Optional[HeaderList] = None
    """Header fields the client and the profile set; secrets in them are ***."""

    body: Optional[BodyRecord] = None
    """Content of the request."""

    source: Optional[str] = None
    """The file that is uploaded."""

    upload: Optional[UploadProtocol] = None
    """Protocol of the upload."""

    spool: Optional[bool] = None
    """True if files are copied before they are sent."""

    chunk_size: Optional[int] = None
    """Largest request of the upload in bytes; absent is upload.chunk_size."""

    creation_with_upload: Optional[bool] = None
    """True if the request that creates an upload contains its first bytes."""

    upload_parts: Optional[int] = None
    """Number of parts of an upload that are sent at the same time; absent is one."""

    output: Optional[str] = None
    """The requested name of the file."""

    dir: Optional[str] = None
    """Absolute path of the file's directory."""

    on_conflict: Optional[ConflictPolicy] = None
    """Action if the name is taken."""

    mode: Optional[str] = None
    """Permission bits of the file, octal text."""

    remote_time: Optional[bool] = None
    """True if the file gets the server's Last-Modified time."""

    allow_hidden: Optional[bool] = None
    """True if the path may have a hidden component directly beneath a home directory."""

    checksum: Optional[str] = None
    """The digest that the bytes must have."""

    priority: Optional[Priority] = None
    """Strict order of starting."""

    group: Optional[str] = None
    """The owner's group to which it belongs."""

    batch: Optional[BatchID] = None
    """The batch it was added with."""

    label: Optional[str] = None
    """Text for people."""

    client_key: Optional[str] = None
    """Key that makes the add safe to repeat."""

    slot: Optional[str] = None
    """The slot to which it was added; it occupies the slot until it ends."""

    finalize: Optional[FinalizeMode] = None
    """Publishing of the file: auto, or manual, which waits for task.commit."""

    post_process: Optional[str] = None
    """The hook that processes the file before it is staged or published."""

    on_complete: Optional[str] = None
    """The hook that runs when it has completed."""

    on_error: Optional[str] = None
    """The hook that runs when it has failed."""

    on_end: Optional[List[str]] = None
    """Webhooks that get the event of its end, in addition to those that get such events anyway."""

    coalesce: Optional[bool] = None
    """False if it does not share its request with other tasks."""

    after: Optional[List[TaskID]] = None
    """Tasks that have to complete before it starts."""

    not_before: Optional[datetime] = None
    """Earliest start time."""

    window: Optional[WindowRecord] = None
    """Times at which it may run."""

    deadline: Optional[datetime] = None
    """Time at which it fails unless it has ended or is staged."""

    after_batch: Optional[BatchID] = None
    """Batch whose members have to complete before it starts."""

    after_group: Optional[str] = None
    """Group whose tasks have to complete before it starts: those unfinished when it was added."""

    lease: Optional[str] = None
    """The lease that has to be in force while it runs."""

    max_retries: Optional[int] = None
    """Attempts after the first; absent is unlimited within retry_for."""

    retry_for: Optional[int] = None
    """Seconds without progress for which it is retried; pauses and other waits do not count."""

    retry_non_idempotent: Optional[bool] = None
    """True if a request that is not idempotent is repeated after a failure."""

    max_recv_rate: Optional[int] = None
    """Bytes per second it may receive; 0 is unlimited."""

    max_send_rate: Optional[int] = None
    """Bytes per second it may send; 0 is unlimited."""

    segments: Optional[Union[int, Literal["auto"]]] = None
    """Number of parts that are fetched at the same time; absent is the service's default."""

    range: Optional[str] = None
    """The part of the source that is fetched; absent is all of it."""

    max_size: Optional[int] = None
    """The greatest length in bytes; absent is unlimited."""

    resume: Optional[ResumeMode] = None
    """Resume of kept bytes without a validator: auto starts over, unsafe continues."""

    profile: Optional[str] = None
    """Profile from which it got defaults."""

    redirect: Optional[RedirectPolicy] = None
    """Treatment of redirects: follow or deny."""

    path_as_is: Optional[bool] = None
    """True if . and .. in the paths of its URLs are sent unchanged."""

    max_redirects: Optional[int] = None
    """Highest number of successive redirects; absent is 20."""

    allow_downgrade: Optional[bool] = None
    """True if redirects from https to http are allowed."""

    http_version: Optional[HTTPVersion] = None
    """The protocol to use."""

    connect_timeout: Optional[float] = None
    """Seconds for name resolution, TCP and TLS; 0 is unlimited."""

    idle_timeout: Optional[float] = None
    """Seconds without a byte after which an attempt ends; 0 is never."""

    total_timeout: Optional[float] = None
    """Seconds that one attempt may take; 0 is unlimited."""

    min_recv_rate: Optional[int] = None
    """Minimum bytes per second of each connection; absent is download.min_recv_rate."""

    min_recv_time: Optional[float] = None
    """Seconds over which min_recv_rate is measured; absent is download.min_recv_time."""

    accept_status: Optional[str] = None
    """Status codes of success."""

    accept_types: Optional[List[str]] = None
    """Accepted media types and ranges; absent accepts all."""

    reject_html: Optional[bool] = None
    """True if an answer with a web page is a failure."""

    announced_digests: Optional[AnnouncedDigests] = None
    """Treatment of digests that the server announces; absent is verify."""

    parse: Optional[List[ResponseParser]] = None
    """Parsers of the response for task.result."""

    strip_nulls: Optional[bool] = None
    """True if null members are removed from the parsed response."""

    credential: Optional[CredentialRecord] = None
    """Credential, if there is one; its values are ***."""

    client_cert: Optional[ClientCertificateRecord] = None
    """The task's own client certificate."""

    cookies: Optional[bool] = None
    """True if the profile's cookies are used; false if only its own are."""

    cookie_list: Optional[List[CookieRecord]] = None
    """Its own cookies; values are ***."""

    proxy: Optional[Union[str, ProxyRecordForm]] = None
    """The proxy it goes through; secrets are ***."""

    cache_policy: Optional[CachePolicy] = None
    """Use of a cached response; absent is reload."""

    store: Optional[bool] = None
    """True if the response is cached."""

    cache_key: Optional[CacheKey] = None
    """Key of the URL in the cache."""

    allow_metered: Optional[bool] = None
    """True if it may use links that cost money."""

    ip_version: Optional[IPVersion] = None
    """Addresses to which it connects; absent is any."""

    interface: Optional[str] = None
    """The network interface or local address it connects from."""

    ca_file: Optional[str] = None
    """The PEM file of the certificate authorities that are trusted in place of the daemon's."""

    resolve: Optional[List[str]] = None
    """Addresses that it uses in place of the resolver's."""

    connect_to: Optional[List[str]] = None
    """Targets to which it connects in place of hosts and ports."""

    unix_socket: Optional[str] = None
    """The Unix socket through which the URL's host is reached."""

    progress_interval: Optional[float] = None
    """Minimum seconds between task.progress events."""

    policy: Optional[str] = None
    """A trust policy that must accept the server in addition to the host's own."""

    meta: Any = None
    """The client's own JSON."""

    final_url: Optional[str] = None
    """URL from which the bytes came after redirects; secrets in it are ***."""

    final_path: Optional[str] = None
    """Absolute path of the published file."""

    http_status: Optional[int] = None
    """Status of the last final response."""

    response_headers: Optional[HeaderList] = None
    """Header fields of the last final response. Only in task.get, if it is in fields."""

    etag: Optional[str] = None
    """The source's entity tag."""

    content_encoding: Optional[str] = None
    """Content coding of the stored bytes, if not identity."""

    last_attempt: Optional[AttemptRecord] = None
    """Address, protocol and times of its last attempt. task.get returns it, listings only if it is
    in fields.
    """

    attempts: Optional[int] = None
    """Attempts so far that count against max_retries."""

    skipped: Optional[bool] = None
    """True if the name was taken and on_conflict is skip or verify."""

    not_modified: Optional[bool] = None
    """True if on_conflict is update and the file was current."""

    warning: Optional[str] = None
    """Warning about a completed download, in English: the file is a web page, but its name does not
    suggest one.
    """

    created_at: Optional[datetime] = None
    """Time at which the task was added."""

    started_at: Optional[datetime] = None
    """Start of its first attempt."""

    finished_at: Optional[datetime] = None
    """End of its last run."""

    abridged: Optional[bool] = None
    """True in a list if the task is longer than 3 MiB: only short fields are returned; task.get
    with fields returns others.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            id=wire["id"],
            owner=wire.get("owner"),
            state=wire.get("state"),
            phase=wire.get("phase"),
            wait=optional(WaitRecord.from_wire, wire.get("wait")),
            error=optional(FailureRecord.from_wire, wire.get("error")),
            progress=optional(ProgressRecord.from_wire, wire.get("progress")),
            resumable=wire.get("resumable"),
            transfer=wire.get("transfer"),
            ranges=optional(listed(SegmentRecord.from_wire), wire.get("ranges")),
            staged_file=optional(StagedFileRecord.from_wire, wire.get("staged_file")),
            discarded=optional(DiscardRecord.from_wire, wire.get("discarded")),
            file_system=optional(FileSystemRecord.from_wire, wire.get("file_system")),
            digest=wire.get("digest"),
            url=wire.get("url"),
            urls=wire.get("urls"),
            kind=wire.get("kind"),
            method=wire.get("method"),
            headers=wire.get("headers"),
            body=optional(BodyRecord.from_wire, wire.get("body")),
            source=wire.get("source"),
            upload=wire.get("upload"),
            spool=wire.get("spool"),
            chunk_size=wire.get("chunk_size"),
            creation_with_upload=wire.get("creation_with_upload"),
            upload_parts=wire.get("upload_parts"),
            output=wire.get("output"),
            dir=wire.get("dir"),
            on_conflict=wire.get("on_conflict"),
            mode=wire.get("mode"),
            remote_time=wire.get("remote_time"),
            allow_hidden=wire.get("allow_hidden"),
            checksum=wire.get("checksum"),
            priority=wire.get("priority"),
            group=wire.get("group"),
            batch=wire.get("batch"),
            label=wire.get("label"),
            client_key=wire.get("client_key"),
            slot=wire.get("slot"),
            finalize=wire.get("finalize"),
            post_process=wire.get("post_process"),
            on_complete=wire.get("on_complete"),
            on_error=wire.get("on_error"),
            on_end=wire.get("on_end"),
            coalesce=wire.get("coalesce"),
            after=wire.get("after"),
            not_before=optional(parse_time, wire.get("not_before")),
            window=wire.get("window"),
            deadline=optional(parse_time, wire.get("deadline")),
            after_batch=wire.get("after_batch"),
            after_group=wire.get("after_group"),
            lease=wire.get("lease"),
            max_retries=wire.get("max_retries"),
            retry_for=wire.get("retry_for"),
            retry_non_idempotent=wire.get("retry_non_idempotent"),
            max_recv_rate=wire.get("max_recv_rate"),
            max_send_rate=wire.get("max_send_rate"),
            segments=wire.get("segments"),
            range=wire.get("range"),
            max_size=wire.get("max_size"),
            resume=wire.get("resume"),
            profile=wire.get("profile"),
            redirect=wire.get("redirect"),
            path_as_is=wire.get("path_as_is"),
            max_redirects=wire.get("max_redirects"),
            allow_downgrade=wire.get("allow_downgrade"),
            http_version=wire.get("http_version"),
            connect_timeout=wire.get("connect_timeout"),
            idle_timeout=wire.get("idle_timeout"),
            total_timeout=wire.get("total_timeout"),
            min_recv_rate=wire.get("min_recv_rate"),
            min_recv_time=wire.get("min_recv_time"),
            accept_status=wire.get("accept_status"),
            accept_types=wire.get("accept_types"),
            reject_html=wire.get("reject_html"),
            announced_digests=wire.get("announced_digests"),
            parse=wire.get("parse"),
            strip_nulls=wire.get("strip_nulls"),
            credential=wire.get("credential"),
            client_cert=wire.get("client_cert"),
            cookies=wire.get("cookies"),
            cookie_list=wire.get("cookie_list"),
            proxy=wire.get("proxy"),
            cache_policy=wire.get("cache_policy"),
            store=wire.get("store"),
            cache_key=wire.get("cache_key"),
            allow_metered=wire.get("allow_metered"),
            ip_version=wire.get("ip_version"),
            interface=wire.get("interface"),
            ca_file=wire.get("ca_file"),
            resolve=wire.get("resolve"),
            connect_to=wire.get("connect_to"),
            unix_socket=wire.get("unix_socket"),
            progress_interval=wire.get("progress_interval"),
            policy=wire.get("policy"),
            meta=wire.get("meta"),
            final_url=wire.get("final_url"),
            final_path=wire.get("final_path"),
            http_status=wire.get("http_status"),
            response_headers=wire.get("response_headers"),
            etag=wire.get("etag"),
            content_encoding=wire.get("content_encoding"),
            last_attempt=optional(AttemptRecord.from_wire, wire.get("last_attempt")),
            attempts=wire.get("attempts"),
            skipped=wire.get("skipped"),
            not_modified=wire.get("not_modified"),
            warning=wire.get("warning"),
            created_at=optional(parse_time, wire.get("created_at")),
            started_at=optional(parse_time, wire.get("started_at")),
            finished_at=optional(parse_time, wire.get("finished_at")),
            abridged=wire.get("abridged"),
        )


@dataclass(frozen=True)
class WaitRecord:
    """Reason why a waiting task cannot start now. For a queued task: its host's cooldown. For a
    queued or running task: the database cannot be written.
    """

    reason: WaitReason
    """Reason of the wait."""

    until: Optional[datetime] = None
    """Time at which it continues automatically, if known."""

    detail: Optional[str] = None
    """In a fleet: the reason why every node that could claim it has declined it; with the reason
    storage: what is wrong with the database; in English.
    """

    url: Optional[str] = None
    """For host_cooldown: the URL whose answer caused it, with its secrets masked; absent if it is
    another user's.
    """

    limit: Optional[int] = None
    """Present limit of the host's transfers; only with the reason host_full."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> WaitRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            reason=wire["reason"],
            until=optional(parse_time, wire.get("until")),
            detail=wire.get("detail"),
            url=wire.get("url"),
            limit=wire.get("limit"),
        )


@dataclass(frozen=True)
class FailureRecord:
    """Reason why a task, or its last attempt, failed."""

    reason: FailureReason
    """Reason of the failure, from a closed list."""

    message: str
    """A sentence for people that helps to fix the problem; without secrets."""

    is_retriable: bool
    """True if another attempt may succeed."""

    http_status: Optional[int] = None
    """Status of the receiver's answer."""

    curl_code: Optional[int] = None
    """libcurl's code, see libcurl-errors(3)."""

    host: Optional[str] = None
    """The host with which the request was exchanged."""

    attempts: Optional[int] = None
    """Attempts so far that count against max_retries."""

    cause: Optional[FailureCause] = None
    """Exact cause, if the reason has several causes. One of a closed list."""

    further_causes: Optional[List[FailureCause]] = None
    """Further known causes, which remain when the cause is fixed."""

    shown_pin: Optional[str] = None
    """Key of the certificate that an untrusted server showed, as sha256/BASE64, which a policy can
    pin.
    """

    policy: Optional[str] = None
    """Name of the trust policy that refused the server."""

    accepted_logins: Optional[List[str]] = None
    """Kinds of login that the server or the proxy accepts, with its own names, such as Basic."""

    proxy: Optional[str] = None
    """The proxy that failed, refused, or may have sent the answer."""

    space: Optional[MissingSpaceRecord] = None
    """For insufficient_space: the space that is missing, if known."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FailureRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            reason=wire["reason"],
            message=wire["message"],
            is_retriable=wire["is_retriable"],
            http_status=wire.get("http_status"),
            curl_code=wire.get("curl_code"),
            host=wire.get("host"),
            attempts=wire.get("attempts"),
            cause=wire.get("cause"),
            further_causes=wire.get("further_causes"),
            shown_pin=wire.get("shown_pin"),
            policy=wire.get("policy"),
            accepted_logins=wire.get("accepted_logins"),
            proxy=wire.get("proxy"),
            space=optional(MissingSpaceRecord.from_wire, wire.get("space")),
        )


@dataclass(frozen=True)
class MissingSpaceRecord:
    """Space that a transfer lacks."""

    directory: str
    """A directory on the file system that lacks the space."""

    needed: int
    """Bytes still to be written there, in addition to download.reserve."""

    uses_reserve: bool
    """True if the bytes may use download.reserve because the response's length is unknown."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> MissingSpaceRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            directory=wire["directory"],
            needed=wire["needed"],
            uses_reserve=wire["uses_reserve"],
        )


@dataclass(frozen=True)
class ProgressRecord:
    """Progress of a task."""

    received: int
    """Bytes received so far, including those kept from earlier attempts."""

    sent: int
    """Bytes sent."""

    total: Optional[int]
    """Complete length in bytes; null while unknown."""

    rate: int
    """Bytes per second over the last seconds."""

    eta: Optional[int]
    """Seconds until the end at that rate; null while unknown."""

    connections: Optional[int] = None
    """Requests in progress; more than one for a transfer in segments or parts, absent if there are
    none.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ProgressRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            received=wire["received"],
            sent=wire["sent"],
            total=wire["total"],
            rate=wire["rate"],
            eta=wire["eta"],
            connections=wire.get("connections"),
        )


@dataclass(frozen=True)
class SegmentRecord:
    """A range of a download's bytes and its durable part."""

    start: int
    """Offset of its first byte."""

    end: Optional[int]
    """The first offset after it; null is the end of the file."""

    committed: int
    """The first offset that is not durable."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SegmentRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            start=wire["start"],
            end=wire["end"],
            committed=wire["committed"],
        )


@dataclass(frozen=True)
class StagedFileRecord:
    """The complete, verified file of a staged task."""

    path: str
    """Present absolute path of the file."""

    name: str
    """The name it gets, unless on_conflict chooses another one."""

    inode: str
    """Its inode number, in decimal digits."""

    size: int
    """Its length in bytes."""

    modified_at: str
    """Time of its last change, in nanoseconds since 1970, in decimal digits."""

    checksum: Optional[str] = None
    """Digest of the file, if one was computed."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> StagedFileRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            path=wire["path"],
            name=wire["name"],
            inode=wire["inode"],
            size=wire["size"],
            modified_at=wire["modified_at"],
            checksum=wire.get("checksum"),
        )


@dataclass(frozen=True)
class DiscardRecord:
    """Last discard of received bytes of a download: its time and reason."""

    at: datetime
    """Time at which the bytes were discarded."""

    bytes: int
    """Number of discarded bytes."""

    reason: str
    """Reason why they could not be used."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> DiscardRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            at=parse_time(wire["at"]),
            bytes=wire["bytes"],
            reason=wire["reason"],
        )


@dataclass(frozen=True)
class FileSystemRecord:
    """A file system and its properties, as far as xferd knows them."""

    type: str
    """Its name in /proc/filesystems; for FUSE with the program, such as fuse.sshfs."""

    local: bool
    """True if its files are on this machine's own disks or in its memory."""

    stable_inodes: bool
    """True if a file keeps its inode number when renamed. Otherwise length, time and digest
    identify it.
    """

    journal: bool
    """True if names and files reach the disk together; false if that is unknown."""

    missing: List[FileSystemFeature]
    """Features known to be missing. Features that were never tried are not listed."""

    names: FileSystemNames
    """The file names that it allows."""

    longest_name: int
    """Maximum length of a file name in bytes."""

    time_step: int
    """Resolution of modification times in nanoseconds."""

    mount_point: Optional[str] = None
    """The directory where it is mounted, if that is known."""

    largest_file: Optional[int] = None
    """Maximum length of a file in bytes, if known."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FileSystemRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            type=wire["type"],
            local=wire["local"],
            stable_inodes=wire["stable_inodes"],
            journal=wire["journal"],
            missing=wire["missing"],
            names=wire["names"],
            longest_name=wire["longest_name"],
            time_step=wire["time_step"],
            mount_point=wire.get("mount_point"),
            largest_file=wire.get("largest_file"),
        )


@dataclass(frozen=True)
class BodyRecord:
    """Description of the content, without the bytes themselves."""

    form: BodySummaryForm
    """Kind of the content: stored with the task, a file, or a form's parts."""

    length: Optional[int] = None
    """Length in bytes; absent for parts."""

    file: Optional[str] = None
    """The file from which the content is read."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> BodyRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            form=wire["form"],
            length=wire.get("length"),
            file=wire.get("file"),
        )


@dataclass(frozen=True)
class AttemptRecord:
    """Connection and times of an attempt's last request."""

    began_at: datetime
    """Start of the attempt."""

    address: Optional[str] = None
    """Address of the connection: the server's, or the proxy's."""

    port: Optional[int] = None
    """Port of the connection."""

    protocol: Optional[str] = None
    """Protocol of the response, for example HTTP/2."""

    reused: Optional[bool] = None
    """True if the connection had been made for an earlier request."""

    name_lookup: Optional[float] = None
    """Seconds from the request's beginning until the name was resolved."""

    connect: Optional[float] = None
    """Seconds until the connection was made."""

    tls: Optional[float] = None
    """Seconds until the end of the TLS handshake."""

    first_byte: Optional[float] = None
    """Seconds until the response's first byte arrived."""

    total: Optional[float] = None
    """Seconds until the end of the request; for a running one, until its response began."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> AttemptRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            began_at=parse_time(wire["began_at"]),
            address=wire.get("address"),
            port=wire.get("port"),
            protocol=wire.get("protocol"),
            reused=wire.get("reused"),
            name_lookup=wire.get("name_lookup"),
            connect=wire.get("connect"),
            tls=wire.get("tls"),
            first_byte=wire.get("first_byte"),
            total=wire.get("total"),
        )


@dataclass(frozen=True)
class TaskAddMany:
    """The new tasks, and the existing ones."""

    ids: List[TaskID]
    """Their ids, in the order of tasks."""

    existing: List[int]
    """Indices of the existing tasks that a client_key found."""

    seq: Optional[int] = None
    """The events of the added tasks have greater numbers: events.subscribe with this as since
    delivers all of them.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskAddMany:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            ids=wire["ids"],
            existing=wire["existing"],
            seq=wire.get("seq"),
        )


@dataclass(frozen=True)
class TaskGetResult:
    """One task."""

    task: TaskRecord
    """The task."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskGetResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            task=TaskRecord.from_wire(wire["task"]),
        )


class TaskFilter(TypedDict, total=False):
    """Filter for tasks: all fields must match, each by one of its values; {"all": true} selects all
    tasks.
    """

    state: Union[TaskState, Sequence[TaskState]]
    """States."""

    kind: Union[TaskKind, Sequence[TaskKind]]
    """Kinds."""

    group: Union[str, Sequence[str]]
    """Groups."""

    batch: Union[BatchID, Sequence[BatchID]]
    """Batches."""

    label: Union[str, Sequence[str]]
    """Labels."""

    slot: Union[str, Sequence[str]]
    """Slots to which the tasks were added."""

    owner: Union[Owner, Sequence[Owner]]
    """Owners' uids; only operators see others' tasks."""

    host: Union[str, Sequence[str]]
    """Hosts of the URLs, at any port, or at one: example.org, example.org:8080, [::1]:8080."""

    ids: Union[TaskID, Sequence[TaskID]]
    """Ids."""

    client_key: Union[str, Sequence[str]]
    """Client keys with which the tasks were added."""

    reason: Union[FailureReason, Sequence[FailureReason]]
    """Reasons of the last failures, as in error.reason."""

    url_prefix: str
    """Beginning of the URLs, without the query: it may contain secrets and cannot be searched."""

    created_from: Time
    """Added at this time or later."""

    created_before: Time
    """Added before this time."""

    finished_from: Time
    """Last run ended at this time or later."""

    finished_before: Time
    """Last run ended before this time."""

    all: bool
    """True to select every task the caller may access; then no other field is allowed."""


@dataclass(frozen=True)
class TaskListResult:
    """One page of tasks."""

    tasks: List[TaskRecord]
    """The tasks."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    unreadable: Optional[List[TaskID]] = None
    """Tasks of this page that are left out because their rows are damaged. task.cancel and
    task.remove remove them; xferd --recover repairs the database.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            tasks=listed(TaskRecord.from_wire)(wire["tasks"]),
            next_cursor=wire["next_cursor"],
            unreadable=wire.get("unreadable"),
        )


@dataclass(frozen=True)
class TaskCountResult:
    """The number of tasks."""

    counts: StateCounts
    """Tasks by state."""

    total: int
    """Number of all these tasks."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskCountResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            counts=StateCounts.from_wire(wire["counts"]),
            total=wire["total"],
        )


@dataclass(frozen=True)
class StateCounts:
    """Number of tasks in each state."""

    queued: int
    """Ready to start when the scheduler picks them."""

    waiting: int
    """Unable to start now."""

    running: int
    """Being transferred, verified or published."""

    paused: int
    """Paused by the user."""

    staged: int
    """Complete, and waiting for a commit."""

    completed: int
    """Done."""

    failed: int
    """Failed permanently."""

    cancelled: int
    """Cancelled."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> StateCounts:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            queued=wire["queued"],
            waiting=wire["waiting"],
            running=wire["running"],
            paused=wire["paused"],
            staged=wire["staged"],
            completed=wire["completed"],
            failed=wire["failed"],
            cancelled=wire["cancelled"],
        )


@dataclass(frozen=True)
class TaskWaitResult:
    """The tasks as they are now."""

    tasks: List[TaskRecord]
    """The tasks, in the order of ids; as many as fit in 1 MiB."""

    timed_out: bool
    """True if the timeout ended the wait."""

    open: Optional[List[TaskID]] = None
    """Tasks that have not ended, after a timeout or with any; 10,000 at most."""

    open_count: Optional[int] = None
    """The number of tasks that have not ended, if open does not list all of them."""

    missing: Optional[List[TaskID]] = None
    """Ids that do not exist or belong to others."""

    omitted: Optional[List[TaskID]] = None
    """Tasks that do not fit in the answer, 10,000 at most; task.list with filter.ids returns them.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskWaitResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            tasks=listed(TaskRecord.from_wire)(wire["tasks"]),
            timed_out=wire["timed_out"],
            open=wire.get("open"),
            open_count=wire.get("open_count"),
            missing=wire.get("missing"),
            omitted=wire.get("omitted"),
        )


@dataclass(frozen=True)
class SelectionResultListed:
    """Result for each of the listed tasks."""

    changed: List[TaskID]
    """Tasks that changed."""

    unchanged: List[SelectionResultUnchanged]
    """Tasks whose state needed no change, or did not allow it."""

    missing: List[TaskID]
    """Ids that do not exist or belong to others."""

    files: Optional[SelectionResultRemovedFiles] = None
    """For task.remove with files: the result for the files."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SelectionResultListed:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            changed=wire["changed"],
            unchanged=listed(SelectionResultUnchanged.from_wire)(wire["unchanged"]),
            missing=wire["missing"],
            files=optional(SelectionResultRemovedFiles.from_wire, wire.get("files")),
        )


@dataclass(frozen=True)
class SelectionResultUnchanged:
    """A task that did not change."""

    id: TaskID
    """The task."""

    state: TaskState
    """State of the task."""

    reason: Optional[str] = None
    """Reason, where the state alone does not explain it. not_resumable: a running request that must
    not be repeated cannot be paused. file_kept: its file could not be deleted (see files).
    source_deleted: the copy of the cancelled task's content was deleted, so it cannot be sent
    again. damaged: its row in the database is damaged, so it can only be cancelled, then
    removed.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SelectionResultUnchanged:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            id=wire["id"],
            state=wire["state"],
            reason=wire.get("reason"),
        )


@dataclass(frozen=True)
class SelectionResultRemovedFiles:
    """Result for the files of tasks that were removed with them."""

    deleted: int
    """Number of files that were deleted, now or before."""

    kept: List[SelectionResultKeptFile]
    """Files that were not deleted, at most 1,000 of them."""

    kept_count: int
    """Number of files that were not deleted."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SelectionResultRemovedFiles:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            deleted=wire["deleted"],
            kept=listed(SelectionResultKeptFile.from_wire)(wire["kept"]),
            kept_count=wire["kept_count"],
        )


@dataclass(frozen=True)
class SelectionResultKeptFile:
    """A file that was not deleted."""

    id: TaskID
    """The task that published a file of this name."""

    path: str
    """Path of the file."""

    reason: str
    """Reason why it was not deleted."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SelectionResultKeptFile:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            id=wire["id"],
            path=wire["path"],
            reason=wire["reason"],
        )


@dataclass(frozen=True)
class SelectionResultCounted:
    """Number of matching tasks that changed."""

    changed_count: int
    """Tasks that changed."""

    unchanged_count: int
    """Tasks that did not change."""

    refused_count: Optional[int] = None
    """Tasks for which the verb failed: not published by task.commit, or not changed by
    task.update_many.
    """

    refused: Optional[List[SelectionResultRefusal]] = None
    """The first 100 of them, with the reasons."""

    files: Optional[SelectionResultRemovedFiles] = None
    """For task.remove with files: the result for the files."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SelectionResultCounted:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            changed_count=wire["changed_count"],
            unchanged_count=wire["unchanged_count"],
            refused_count=wire.get("refused_count"),
            refused=optional(listed(SelectionResultRefusal.from_wire), wire.get("refused")),
            files=optional(SelectionResultRemovedFiles.from_wire, wire.get("files")),
        )


@dataclass(frozen=True)
class SelectionResultRefusal:
    """A task for which the verb failed."""

    id: TaskID
    """The task."""

    reason: str
    """The data.reason of the error that a call for this task alone would return."""

    message: str
    """Description of the refusal, in English."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SelectionResultRefusal:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            id=wire["id"],
            reason=wire["reason"],
            message=wire["message"],
        )


@dataclass(frozen=True)
class SelectionResultBegun:
    """The operation that applies the verb."""

    operation: OperationID
    """The operation, for operation.get."""

    seq: int
    """Its events have higher sequence numbers."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SelectionResultBegun:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            operation=wire["operation"],
            seq=wire["seq"],
        )


class TaskChanges(TypedDict, total=False):
    """Fields to change; null unsets a field that can be unset."""

    priority: Priority
    """Strict order of starting."""

    group: Optional[str]
    """A name by which tasks can be selected."""

    label: Optional[str]
    """Text for people."""

    meta: Any
    """Any JSON of the client's own."""

    max_retries: Optional[int]
    """Attempts after the first; null is unlimited."""

    retry_for: int
    """Seconds without progress for which it is retried; pauses and other waits do not count."""

    retry_non_idempotent: bool
    """True if a request that is not idempotent is repeated after a failure."""

    max_recv_rate: int
    """Bytes per second it may receive; 0 is unlimited."""

    max_send_rate: int
    """Bytes per second it may send; 0 is unlimited."""

    allow_metered: bool
    """True if it may use links that cost money; if false, it stops on such a link and waits for
    another.
    """

    progress_interval: float
    """Minimum seconds between task.progress events."""

    not_before: Optional[Time]
    """Earliest start time; null is any time."""

    window: Optional[WindowRecord]
    """Times at which it may run; null is any time."""

    deadline: Optional[Time]
    """Time at which it fails unless it has ended or is staged; null is never."""

    after_batch: Optional[BatchID]
    """Batch whose members have to complete before it starts; null is none; only while the task is
    not running.
    """

    after_group: Optional[str]
    """Group whose tasks have to complete before it starts: those that are unfinished now; null is
    none; only while the task is not running.
    """

    lease: Optional[str]
    """The lease that has to be in force while it runs; null is none."""

    dir: str
    """Absolute path of the directory; only while the task is not running."""

    output: Optional[str]
    """The file's name or path; null leaves it to the server; only while the task is not running."""

    on_conflict: ConflictPolicy
    """Action if the name is taken; only while the task is not running."""

    allow_hidden: bool
    """Allow a path with a hidden component directly beneath a home directory; only while not
    running.
    """

    checksum: Optional[str]
    """The digest the bytes must have; null is none; only while the task is not running."""

    segments: Optional[Union[int, Literal["auto"]]]
    """Number of parts of a download that are fetched at the same time; null is download.segments;
    only while the task is not running.
    """

    max_size: Optional[int]
    """The greatest length of a download in bytes; null is unlimited; only while the task is not
    running.
    """

    headers: HeaderList
    """All header fields to send; only while the task is not running."""

    credential: Optional[CredentialRecord]
    """Credential; null is none; only while the task is not running."""

    client_cert: Optional[ClientCertificateRecord]
    """Client certificate for servers of the URL's origin that request one; null is none; only while
    the task is not running.
    """

    cookie_list: Optional[Sequence[CookieRecord]]
    """Cookies of its own; null is none; only while the task is not running."""

    proxy: Optional[Union[str, ProxyRecordForm]]
    """The proxy to go through; null is none; only while the task is not running."""

    connect_timeout: float
    """Seconds to connect; 0 is unlimited; only while the task is not running."""

    idle_timeout: float
    """Seconds without a byte; 0 is never; only while the task is not running."""

    total_timeout: float
    """Seconds of an attempt; 0 is unlimited; only while the task is not running."""

    min_recv_rate: Optional[int]
    """Minimum bytes per second of each connection; null is download.min_recv_rate; only while the
    task is not running.
    """

    min_recv_time: Optional[float]
    """Seconds over which min_recv_rate is measured; null is download.min_recv_time; only while the
    task is not running.
    """

    reject_html: bool
    """True to treat an answer with a web page as a failure; only while the task is not running."""

    announced_digests: AnnouncedDigests
    """Treatment of digests that the server announces (ignore: wrong digests are accepted); only
    while not running.
    """

    ip_version: IPVersion
    """Addresses to connect to; only while the task is not running."""

    interface: Optional[str]
    """The network interface or local address to connect from; null is none; only while the task is
    not running.
    """

    ca_file: Optional[str]
    """A PEM file of the authorities that are trusted; null is the daemon's; only while the task is
    not running.
    """

    resolve: Sequence[str]
    """Addresses to use in place of the resolver's; only while the task is not running."""

    connect_to: Sequence[str]
    """Targets to connect to in place of hosts and ports; only while the task is not running."""

    unix_socket: Optional[str]
    """The Unix socket through which the URL's host is reached; null is none; only while the task is
    not running.
    """

    policy: Optional[str]
    """A trust policy in addition to the host's own; null is none; only while the task is not
    running.
    """

    after: Optional[Sequence[TaskID]]
    """Tasks that have to complete before it starts; null is none; only while the task is not
    running.
    """


@dataclass(frozen=True)
class TaskReadResult:
    """A part of a task's bytes."""

    data: str
    """The bytes."""

    encoding: TaskResultEncoding
    """Encoding of the bytes: unchanged text, or base64 if they are not text."""

    offset: int
    """Offset of the first byte."""

    eof: bool
    """True if no bytes follow, now or later."""

    length: int
    """Bytes that can be read now."""

    state: TaskState
    """State of the task."""

    version: Optional[str] = None
    """Identifies the bytes; it differs for another version of the source, or another attempt."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskReadResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            data=wire["data"],
            encoding=wire["encoding"],
            offset=wire["offset"],
            eof=wire["eof"],
            length=wire["length"],
            state=wire["state"],
            version=wire.get("version"),
        )


@dataclass(frozen=True)
class TaskResultResult:
    """A part of a response."""

    data: str
    """The bytes."""

    encoding: TaskResultEncoding
    """Encoding of the bytes: unchanged text, or base64 if they are not text."""

    offset: int
    """Offset of the first byte."""

    eof: bool
    """True if no bytes follow."""

    length: int
    """Bytes of the whole response."""

    object: Any = None
    """Result of `parse` for the whole response; only with offset 0. null is a valid result."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskResultResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            data=wire["data"],
            encoding=wire["encoding"],
            offset=wire["offset"],
            eof=wire["eof"],
            length=wire["length"],
            object=wire.get("object"),
        )


@dataclass(frozen=True)
class TaskRecordDigestResult:
    """The known digest of the file."""

    digest: str
    """The digest."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskRecordDigestResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            digest=wire["digest"],
        )


@dataclass(frozen=True)
class OperationGetResult:
    """One operation."""

    operation: OperationRecord
    """The operation."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> OperationGetResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            operation=OperationRecord.from_wire(wire["operation"]),
        )


@dataclass(frozen=True)
class OperationRecord:
    """A verb over the tasks of a filter that the service carries out in the background."""

    id: OperationID
    """Identifies the operation."""

    owner: Owner
    """The uid of its caller."""

    verb: OperationVerb
    """The verb that is applied to each task."""

    filter: TaskFilter
    """The filter of the call."""

    state: OperationState
    """running: in progress, or waiting for an earlier operation of its owner; completed; failed;
    cancelled.
    """

    changed_count: int
    """Tasks that changed so far."""

    unchanged_count: int
    """Tasks that did not change."""

    created_at: datetime
    """Time of the call."""

    refused_count: Optional[int] = None
    """Tasks for which the verb failed."""

    refused: Optional[List[SelectionResultRefusal]] = None
    """The first 100 of them, with the reasons."""

    files: Optional[SelectionResultRemovedFiles] = None
    """For a removal with files: the results for the files, with at most 100 that were kept."""

    reached: Optional[TaskID] = None
    """Tasks with ids up to this one are processed; absent before the first step."""

    last: Optional[TaskID] = None
    """The newest task at the call. Later ones are not changed."""

    error: Optional[str] = None
    """Reason why it failed, in English."""

    ended_at: Optional[datetime] = None
    """Time of the end; absent while it is running."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> OperationRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            id=wire["id"],
            owner=wire["owner"],
            verb=wire["verb"],
            filter=wire["filter"],
            state=wire["state"],
            changed_count=wire["changed_count"],
            unchanged_count=wire["unchanged_count"],
            created_at=parse_time(wire["created_at"]),
            refused_count=wire.get("refused_count"),
            refused=optional(listed(SelectionResultRefusal.from_wire), wire.get("refused")),
            files=optional(SelectionResultRemovedFiles.from_wire, wire.get("files")),
            reached=wire.get("reached"),
            last=wire.get("last"),
            error=wire.get("error"),
            ended_at=optional(parse_time, wire.get("ended_at")),
        )


@dataclass(frozen=True)
class OperationListResult:
    """One page of operations."""

    operations: List[OperationRecord]
    """The operations."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> OperationListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            operations=listed(OperationRecord.from_wire)(wire["operations"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class QueueStatsResult:
    """Present state of the queue."""

    counts: StateCounts
    """Tasks by state."""

    rates: QueueStatsRates
    """Bytes per second over all running tasks."""

    paused: bool
    """True if the queue is paused."""

    limits: QueueLimits
    """The limits in force."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> QueueStatsResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            counts=StateCounts.from_wire(wire["counts"]),
            rates=QueueStatsRates.from_wire(wire["rates"]),
            paused=wire["paused"],
            limits=QueueLimits.from_wire(wire["limits"]),
        )


@dataclass(frozen=True)
class QueueStatsRates:
    """Bytes per second over all running tasks."""

    recv: int
    """Received."""

    send: int
    """Sent."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> QueueStatsRates:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            recv=wire["recv"],
            send=wire["send"],
        )


@dataclass(frozen=True)
class QueueLimits:
    """The limits of the queue that are in force."""

    max_active: int
    """Highest number of transfers at once; if xferd determines it, that of small transfers."""

    max_active_per_host: int
    """Highest number of transfers at once from one host; if xferd determines it, that of HTTP/1.1
    connections.
    """

    order: QueueOrder
    """Order of a host's tasks."""

    max_recv_rate: int
    """Bytes per second that all transfers may receive together; 0 is unlimited."""

    max_send_rate: int
    """Bytes per second that all transfers may send together; 0 is unlimited."""

    automatic: Optional[List[str]] = None
    """The unset ones of max_active and max_active_per_host; xferd determines them."""

    overridden: Optional[List[str]] = None
    """The limits that queue.set_limits has set; they apply until it sets them to null."""

    timetabled: Optional[List[str]] = None
    """The limits that bandwidth.timetable sets now."""

    timetable_until: Optional[datetime] = None
    """Time of the next change by bandwidth.timetable, if any."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> QueueLimits:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            max_active=wire["max_active"],
            max_active_per_host=wire["max_active_per_host"],
            order=wire["order"],
            max_recv_rate=wire["max_recv_rate"],
            max_send_rate=wire["max_send_rate"],
            automatic=wire.get("automatic"),
            overridden=wire.get("overridden"),
            timetabled=wire.get("timetabled"),
            timetable_until=optional(parse_time, wire.get("timetable_until")),
        )


@dataclass(frozen=True)
class QueuePauseResult:
    """True if the queue is paused."""

    paused: bool
    """True if the queue is paused."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> QueuePauseResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            paused=wire["paused"],
        )


@dataclass(frozen=True)
class QueueSetLimitsResult:
    """The limits in force."""

    limits: QueueLimits
    """The limits in force."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> QueueSetLimitsResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            limits=QueueLimits.from_wire(wire["limits"]),
        )


@dataclass(frozen=True)
class QueueHostsResult:
    """The hosts, in the order of their names."""

    hosts: List[HostRecord]
    """The hosts, in the order of their names."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> QueueHostsResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            hosts=listed(HostRecord.from_wire)(wire["hosts"]),
        )


@dataclass(frozen=True)
class HostRecord:
    """A host: how many transfers it may have at once, and the reason for this limit."""

    host: str
    """Its name; with :port unless it is the scheme's default."""

    window: int
    """Current maximum of transfers at once."""

    active: int
    """Running transfers."""

    connections: Optional[int] = None
    """Connections in use, as far as xferd knows."""

    protocol: Optional[HostProtocol] = None
    """The protocol of its last answer."""

    latency_ms: Optional[int] = None
    """Milliseconds from a request to the first byte of its answer, smoothed."""

    recv_rate: Optional[int] = None
    """Bytes per second, measured over the last round trip."""

    refusals: Optional[int] = None
    """Requests that it has refused or aborted while others were in progress."""

    reason: Optional[HostReason] = None
    """The reason why the window does not grow."""

    max_connections: Optional[int] = None
    """The host's own limit, set with queue.set_host."""

    requests_per_minute: Optional[int] = None
    """The host's own limit, set with queue.set_host."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> HostRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            host=wire["host"],
            window=wire["window"],
            active=wire["active"],
            connections=wire.get("connections"),
            protocol=wire.get("protocol"),
            latency_ms=wire.get("latency_ms"),
            recv_rate=wire.get("recv_rate"),
            refusals=wire.get("refusals"),
            reason=wire.get("reason"),
            max_connections=wire.get("max_connections"),
            requests_per_minute=wire.get("requests_per_minute"),
        )


@dataclass(frozen=True)
class QueueSetHostResult:
    """The host with its limits."""

    host: HostRecord
    """The host with its limits."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> QueueSetHostResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            host=HostRecord.from_wire(wire["host"]),
        )


@dataclass(frozen=True)
class BatchAddResult:
    """The new batch, or the existing one."""

    batch: BatchRecord
    """The batch."""

    ids: List[TaskID]
    """Its members in the order of their entries; for an existing batch, without removed members."""

    errors: List[BatchRefusal]
    """The entries that did not become members."""

    existing: Optional[bool] = None
    """True when client_key found a batch with the same parameters."""

    seq: Optional[int] = None
    """The events of the added tasks have greater numbers: events.subscribe with this as since
    delivers all of them.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> BatchAddResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            batch=BatchRecord.from_wire(wire["batch"]),
            ids=wire["ids"],
            errors=listed(BatchRefusal.from_wire)(wire["errors"]),
            existing=wire.get("existing"),
            seq=wire.get("seq"),
        )


@dataclass(frozen=True)
class BatchRecord:
    """A batch: tasks that were added together and are counted together."""

    id: BatchID
    """Identifies the batch."""

    owner: Owner
    """The uid of the process that added it."""

    group: str
    """The group of its members, for group.* and filters."""

    total: int
    """Number of members when the batch was added."""

    finished: int
    """Number of members that completed, failed, or were cancelled or superseded, including removed
    ones.
    """

    skipped: int
    """Same value as failed; the field's name before 1.0.0."""

    counts: StateCounts
    """Number of members by state, without removed ones."""

    created_at: datetime
    """Time at which the batch was added."""

    completed_at: Optional[datetime]
    """Time at which the last member ended for the first time; null before."""

    failed: Optional[int] = None
    """Number of members that failed."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> BatchRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            id=wire["id"],
            owner=wire["owner"],
            group=wire["group"],
            total=wire["total"],
            finished=wire["finished"],
            skipped=wire["skipped"],
            counts=StateCounts.from_wire(wire["counts"]),
            created_at=parse_time(wire["created_at"]),
            completed_at=optional(parse_time, wire["completed_at"]),
            failed=wire.get("failed"),
        )


@dataclass(frozen=True)
class BatchRefusal:
    """An entry that did not become a member, with the reason."""

    index: int
    """Its place in tasks, from 0."""

    code: int
    """The error code with which task.add would have answered."""

    message: str
    """One sentence for people, with the field at fault."""

    data: Optional[ErrorData] = None
    """Details of the error."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> BatchRefusal:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            index=wire["index"],
            code=wire["code"],
            message=wire["message"],
            data=optional(ErrorData.from_wire, wire.get("data")),
        )


@dataclass(frozen=True)
class ErrorData:
    """Details of an error answer."""

    reason: str
    """Cause as a lower-case identifier for programs."""

    path: Optional[str] = None
    """The field at fault, from the root of params."""

    expected: Optional[str] = None
    """Description of valid values."""

    limit: Optional[int] = None
    """The limit that was reached."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    state: Optional[TaskState] = None
    """State of that task."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ErrorData:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            reason=wire["reason"],
            path=wire.get("path"),
            expected=wire.get("expected"),
            limit=wire.get("limit"),
            task_id=wire.get("task_id"),
            state=wire.get("state"),
        )


@dataclass(frozen=True)
class BatchGetResult:
    """Present state of the batch."""

    batch: BatchRecord
    """Present state of the batch."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> BatchGetResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            batch=BatchRecord.from_wire(wire["batch"]),
        )


@dataclass(frozen=True)
class BatchListResult:
    """One page of the batches."""

    batches: List[BatchRecord]
    """The batches."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> BatchListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            batches=listed(BatchRecord.from_wire)(wire["batches"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class GroupListResult:
    """One page of the groups."""

    groups: List[GroupRecord]
    """The groups."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> GroupListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            groups=listed(GroupRecord.from_wire)(wire["groups"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class GroupRecord:
    """A group: tasks that are paused, limited and counted together."""

    name: str
    """The group's name; every owner has groups of its own."""

    owner: Owner
    """The uid of the tasks' owner."""

    paused: bool
    """True if the group is paused."""

    max_active: Optional[int]
    """Highest number of its transfers at once; null is no limit of its own."""

    counts: StateCounts
    """Number of its tasks by state."""

    max_recv_rate: Optional[int] = None
    """Bytes per second its transfers may receive together."""

    max_send_rate: Optional[int] = None
    """Bytes per second its transfers may send together."""

    batch: Optional[BatchID] = None
    """The batch it was made for."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> GroupRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            name=wire["name"],
            owner=wire["owner"],
            paused=wire["paused"],
            max_active=wire["max_active"],
            counts=StateCounts.from_wire(wire["counts"]),
            max_recv_rate=wire.get("max_recv_rate"),
            max_send_rate=wire.get("max_send_rate"),
            batch=wire.get("batch"),
        )


@dataclass(frozen=True)
class GroupGetResult:
    """Present state of the group."""

    group: GroupRecord
    """Present state of the group."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> GroupGetResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            group=GroupRecord.from_wire(wire["group"]),
        )


@dataclass(frozen=True)
class GroupRemoveResult:
    """True if the group existed."""

    removed: bool
    """True if the group existed."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> GroupRemoveResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            removed=wire["removed"],
        )


@dataclass(frozen=True)
class SlotGetResult:
    """The task concerned."""

    task: Optional[TaskRecord]
    """The task; null when the slot was empty."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SlotGetResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            task=optional(TaskRecord.from_wire, wire["task"]),
        )


@dataclass(frozen=True)
class CacheStatsResult:
    """Size of the cache, and its limits."""

    entries: int
    """Number of cached responses."""

    size: int
    """Total length of their contents in bytes."""

    max_bytes: int
    """Limit of all contents in bytes; the least recently used are removed."""

    max_age: int
    """Seconds for which a response is kept after its last use."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CacheStatsResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            entries=wire["entries"],
            size=wire["size"],
            max_bytes=wire["max_bytes"],
            max_age=wire["max_age"],
        )


@dataclass(frozen=True)
class CacheListResult:
    """One page of the cache."""

    entries: List[CacheEntryRecord]
    """The entries."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CacheListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            entries=listed(CacheEntryRecord.from_wire)(wire["entries"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class CacheEntryRecord:
    """A cached response."""

    id: CacheEntryID
    """Identifies the entry."""

    owner: Owner
    """Uid of the user for whom it was fetched or put; only this user's tasks use it."""

    url: str
    """Requested URL; secrets in it are ***."""

    http_status: int
    """The response's status."""

    size: int
    """Bytes of its content."""

    received_at: datetime
    """Time of the response, or of its last validation."""

    stored_at: datetime
    """Time at which it was stored or renewed."""

    last_used_at: datetime
    """Time of its last use."""

    final_url: Optional[str] = None
    """URL that sent it, if redirects led elsewhere."""

    etag: Optional[str] = None
    """Its entity tag."""

    content_encoding: Optional[str] = None
    """The coding of its content, if not identity."""

    fresh_until: Optional[datetime] = None
    """Time until which it is used without a request to the server; absent when it is stale."""

    varies: Optional[List[str]] = None
    """Request header fields that must have the same values as in the original request."""

    digest: Optional[str] = None
    """SHA-256 of its content; only from cache.get."""

    response_headers: Optional[HeaderList] = None
    """Its header fields; only from cache.get."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CacheEntryRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            id=wire["id"],
            owner=wire["owner"],
            url=wire["url"],
            http_status=wire["http_status"],
            size=wire["size"],
            received_at=parse_time(wire["received_at"]),
            stored_at=parse_time(wire["stored_at"]),
            last_used_at=parse_time(wire["last_used_at"]),
            final_url=wire.get("final_url"),
            etag=wire.get("etag"),
            content_encoding=wire.get("content_encoding"),
            fresh_until=optional(parse_time, wire.get("fresh_until")),
            varies=wire.get("varies"),
            digest=wire.get("digest"),
            response_headers=wire.get("response_headers"),
        )


@dataclass(frozen=True)
class CacheGetResult:
    """The entry."""

    entry: CacheEntryRecord
    """The entry."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CacheGetResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            entry=CacheEntryRecord.from_wire(wire["entry"]),
        )


@dataclass(frozen=True)
class CacheRemoveResult:
    """The ids that existed, and those that did not."""

    removed: List[CacheEntryID]
    """The ids that existed."""

    missing: List[CacheEntryID]
    """Ids that did not exist, or belong to another user."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CacheRemoveResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            removed=wire["removed"],
            missing=wire["missing"],
        )


@dataclass(frozen=True)
class CacheClearResult:
    """Number and size of the removed responses."""

    removed_count: int
    """Responses that were removed."""

    removed_size: int
    """Total length of their contents in bytes."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CacheClearResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            removed_count=wire["removed_count"],
            removed_size=wire["removed_size"],
        )


@dataclass(frozen=True)
class FailedURLListResult:
    """One page of the list."""

    entries: List[FailedURLRecord]
    """The entries."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FailedURLListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            entries=listed(FailedURLRecord.from_wire)(wire["entries"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class FailedURLRecord:
    """A URL that failed permanently and is refused without a request for a while."""

    id: FailedURLID
    """Identifies the entry."""

    url: str
    """The URL; secrets in it are ***."""

    method: str
    """The request's method."""

    owner: Owner
    """The uid of the failed task's owner."""

    task_id: TaskID
    """The task that failed; it may have been removed since."""

    error: FailureRecord
    """Error with which the task failed."""

    failed_at: datetime
    """Time of the failure."""

    expires_at: datetime
    """Time from which it may be requested again, unless the entry is removed or the URL succeeds
    earlier.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FailedURLRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            id=wire["id"],
            url=wire["url"],
            method=wire["method"],
            owner=wire["owner"],
            task_id=wire["task_id"],
            error=FailureRecord.from_wire(wire["error"]),
            failed_at=parse_time(wire["failed_at"]),
            expires_at=parse_time(wire["expires_at"]),
        )


@dataclass(frozen=True)
class FailedURLRemoveResult:
    """The ids that existed, and those that did not."""

    removed: List[FailedURLID]
    """The ids that existed."""

    missing: List[FailedURLID]
    """Ids that did not exist, or belong to another user."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FailedURLRemoveResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            removed=wire["removed"],
            missing=wire["missing"],
        )


@dataclass(frozen=True)
class FailedURLClearResult:
    """Number of removed entries."""

    removed_count: int
    """Entries that were removed."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FailedURLClearResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            removed_count=wire["removed_count"],
        )


@dataclass(frozen=True)
class PolicyListResult:
    """All trust policies."""

    policies: List[PolicyRecord]
    """The policies, by name."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> PolicyListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            policies=listed(PolicyRecord.from_wire)(wire["policies"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class PolicyRecord:
    """Rule for judging the certificates of some hosts' servers."""

    name: str
    """The policy's name."""

    version: int
    """Number of this version; every change increases it. 0 is the built-in default."""

    origin: PolicyOrigin
    """Origin of the definition. A policy from the configuration is changed there."""

    mode: TrustPolicyMode
    """Requirement for a server."""

    pins: List[PinRecord]
    """Pinned keys or certificates; one that matches suffices."""

    hosts: List[str]
    """Host patterns; none for the default policy."""

    allow_invalid_certificates: bool
    """True if chains are accepted that do not lead to an authority of the system."""

    validates_domain_name: bool
    """True if the leaf has to be valid for the host."""

    report_only: bool
    """True if it only reports what it would have refused."""

    min_tls: TLSVersion
    """Lowest TLS version of a connection."""

    expires_at: Optional[datetime] = None
    """Time from which only the ordinary check applies."""

    client_certificate: Optional[ClientCertificateRecord] = None
    """Client certificate for servers that request one."""

    require_stapled_ocsp: Optional[bool] = None
    """True if a server has to staple an OCSP response that shows that its certificate is not
    revoked; default false.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> PolicyRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            name=wire["name"],
            version=wire["version"],
            origin=wire["origin"],
            mode=wire["mode"],
            pins=listed(PinRecord.from_wire)(wire["pins"]),
            hosts=wire["hosts"],
            allow_invalid_certificates=wire["allow_invalid_certificates"],
            validates_domain_name=wire["validates_domain_name"],
            report_only=wire["report_only"],
            min_tls=wire["min_tls"],
            expires_at=optional(parse_time, wire.get("expires_at")),
            client_certificate=wire.get("client_certificate"),
            require_stapled_ocsp=wire.get("require_stapled_ocsp"),
        )


@dataclass(frozen=True)
class PinRecord:
    """Pin with which a server's chain is compared."""

    pin: str
    """The form of policy.set: sha256/BASE64, or a certificate in PEM."""

    key: str
    """The pin of its key: sha256/BASE64."""

    not_after: Optional[datetime] = None
    """Expiry of a pinned certificate."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> PinRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            pin=wire["pin"],
            key=wire["key"],
            not_after=optional(parse_time, wire.get("not_after")),
        )


@dataclass(frozen=True)
class PolicyGetResult:
    """The policy."""

    policy: PolicyRecord
    """The policy."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> PolicyGetResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            policy=PolicyRecord.from_wire(wire["policy"]),
        )


class PolicyInputRequired(TypedDict):
    """The fields that every PolicyInput has."""

    name: str
    """Lower-case letters, digits, -, _ and .; the policy "default" is for hosts that no pattern
    matches.
    """


class PolicyInput(PolicyInputRequired, total=False):
    """Rule for judging the certificates of some hosts' servers."""

    mode: TrustPolicyMode
    """Requirement for a server: none (the ordinary check), public_key or certificate."""

    pins: Sequence[str]
    """Pins: each is sha256/BASE64 of a key (RFC 7469) or PEM text of certificates; one match
    suffices.
    """

    hosts: Sequence[str]
    """example.org, *.example.org (one label more) or .example.org (any depth), each with an
    optional :port.
    """

    allow_invalid_certificates: bool
    """Accept chains that do not lead to an authority of the system."""

    validates_domain_name: bool
    """True if the leaf certificate must be valid for the host."""

    report_only: bool
    """Report with policy.violation what would be refused; decide as if this policy did not exist.
    """

    expires_at: Time
    """Time from which only the ordinary check applies; events and logs report it."""

    min_tls: TLSVersion
    """Lowest TLS version of a connection."""

    client_certificate: ClientCertificateRecord
    """Client certificate for servers that request one."""

    require_stapled_ocsp: bool
    """Require a stapled OCSP response that shows that the server's certificate is not revoked."""


@dataclass(frozen=True)
class Done:
    """Done."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Done:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls()


@dataclass(frozen=True)
class ServerReportRecord:
    """Data that a server sent in one TLS handshake, and the policies' judgement of it."""

    host: str
    """Host of the server."""

    port: int
    """Port of the server."""

    verdict: ServerReportRecordServerVerdict
    """Verdict that a task would get."""

    chain: List[ServerCertificateRecord]
    """The certificates, leaf first, as the server sent them."""

    stages: List[StageRecord]
    """Result of each check by itself."""

    policies: List[PolicyVerdictRecord]
    """Each policy by itself; all have to accept."""

    error: Optional[str] = None
    """Reason why the server could not be judged."""

    tls_version: Optional[str] = None
    """The protocol of a successful handshake."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ServerReportRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            host=wire["host"],
            port=wire["port"],
            verdict=wire["verdict"],
            chain=listed(ServerCertificateRecord.from_wire)(wire["chain"]),
            stages=listed(StageRecord.from_wire)(wire["stages"]),
            policies=listed(PolicyVerdictRecord.from_wire)(wire["policies"]),
            error=wire.get("error"),
            tls_version=wire.get("tls_version"),
        )


@dataclass(frozen=True)
class ServerCertificateRecord:
    """A certificate that a server sent."""

    subject: str
    """Subject of the certificate."""

    issuer: str
    """Issuer of the certificate."""

    names: List[str]
    """The host names and addresses in it."""

    not_before: datetime
    """Start of its validity."""

    not_after: datetime
    """End of its validity."""

    pin: str
    """The pin of its key: sha256/BASE64."""

    pinned_by: List[str]
    """Names of the policies in question that pin it."""

    pem: str
    """The certificate itself."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ServerCertificateRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            subject=wire["subject"],
            issuer=wire["issuer"],
            names=wire["names"],
            not_before=parse_time(wire["not_before"]),
            not_after=parse_time(wire["not_after"]),
            pin=wire["pin"],
            pinned_by=wire["pinned_by"],
            pem=wire["pem"],
        )


@dataclass(frozen=True)
class StageRecord:
    """One check of the server, independent of the policies."""

    stage: TrustStage
    """Name of the check."""

    passed: bool
    """Result of the check: by the ordinary rules, or by the pins."""

    detail: str
    """Details of the result."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> StageRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            stage=wire["stage"],
            passed=wire["passed"],
            detail=wire["detail"],
        )


@dataclass(frozen=True)
class PolicyVerdictRecord:
    """Judgement of one policy by itself."""

    name: str
    """The policy's name."""

    version: int
    """Its version."""

    accepted: bool
    """True if it accepts the server."""

    report_only: bool
    """True if it found a failure that it only reports."""

    expired: bool
    """True if the policy has expired, so that only the ordinary check applies."""

    reason: Optional[FailureReason] = None
    """pin_mismatch or revocation_unknown when nothing else is wrong, else trust_rejected."""

    problem: Optional[str] = None
    """Description of the failure."""

    verify_error: Optional[int] = None
    """OpenSSL's X509_V_ERR code, if a chain is at fault."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> PolicyVerdictRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            name=wire["name"],
            version=wire["version"],
            accepted=wire["accepted"],
            report_only=wire["report_only"],
            expired=wire["expired"],
            reason=wire.get("reason"),
            problem=wire.get("problem"),
            verify_error=wire.get("verify_error"),
        )


@dataclass(frozen=True)
class ProfileListResult:
    """All profiles."""

    profiles: List[ProfileRecord]
    """The profiles, by name."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ProfileListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            profiles=listed(ProfileRecord.from_wire)(wire["profiles"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class ProfileRecord:
    """Defaults for the requests of the tasks that refer to it; secrets are ***."""

    name: str
    """The profile's name."""

    origin: ProfileOrigin
    """Origin of the definition. A profile from the configuration is changed there."""

    base_url: Optional[str] = None
    """Relative URLs of tasks are resolved against it."""

    headers: Optional[HeaderList] = None
    """Header fields of requests that have none of the same name."""

    header_rules: Optional[List[HeaderRuleInput]] = None
    """Changes to the header fields by host."""

    languages: Optional[List[str]] = None
    """Language tags, for Accept-Language."""

    cookies: Optional[CookieKeeping] = None
    """jar if cookies are stored and sent."""

    credential: Optional[CredentialRecord] = None
    """Credential; sent only to its origins (default: base_url's). Shown as *** or as the secret's
    place.
    """

    client_cert: Optional[ClientCertificateRecord] = None
    """Client certificate for servers of base_url's origin that request one."""

    proxy: Optional[Union[str, ProxyRecordForm]] = None
    """The proxy to go through; secrets are shown as ***."""

    credential_hook: Optional[str] = None
    """The hook that is run when a server refuses the credential."""

    redirect: Optional[RedirectPolicy] = None
    """Treatment of redirects: follow or deny."""

    max_redirects: Optional[int] = None
    """Highest number of successive redirects."""

    allow_downgrade: Optional[bool] = None
    """True if redirects from https to http are allowed."""

    http_version: Optional[HTTPVersion] = None
    """The protocol to use."""

    connect_timeout: Optional[float] = None
    """Seconds for name resolution, TCP and TLS; 0 is unlimited."""

    idle_timeout: Optional[float] = None
    """Seconds without a byte after which an attempt ends; 0 is never."""

    total_timeout: Optional[float] = None
    """Seconds that one attempt may take; 0 is unlimited."""

    min_recv_rate: Optional[int] = None
    """Minimum bytes per second of each connection; 0 turns this off."""

    min_recv_time: Optional[float] = None
    """Seconds over which min_recv_rate is measured."""

    accept_status: Optional[str] = None
    """Status codes of success."""

    accept_types: Optional[List[str]] = None
    """Accepted media types or ranges (image/*), or the presets json, xml, plist, image."""

    reject_html: Optional[bool] = None
    """True if an answer with a web page (text/html) is a failure."""

    announced_digests: Optional[AnnouncedDigests] = None
    """Treatment of digests that the server announces: verify or ignore."""

    cache_policy: Optional[CachePolicy] = None
    """Use of cached responses; default reload, which never uses one."""

    store: Optional[bool] = None
    """True to cache responses; the default depends on cache_policy."""

    cache_key: Optional[CacheKeyRecord] = None
    """Parts of URLs that the cache ignores."""

    allow_metered: Optional[bool] = None
    """True if tasks may use links that cost money."""

    ip_version: Optional[IPVersion] = None
    """Addresses to connect to: any, IPv4 or IPv6."""

    interface: Optional[str] = None
    """The network interface or local address to connect from."""

    resolve: Optional[List[str]] = None
    """Addresses to use in place of the resolver's: HOST:PORT:ADDRESS[,ADDRESS]."""

    connect_to: Optional[List[str]] = None
    """Targets to connect to in place of hosts and ports: HOST:PORT:TARGET:TARGETPORT."""

    max_active: Optional[int] = None
    """Highest number of transfers of its tasks at once."""

    polite: Optional[bool] = None
    """False lets the hosts of its tasks have up to 16 connections over HTTP/1.1."""

    max_recv_rate: Optional[int] = None
    """Bytes per second that its tasks may receive together; 0 is unlimited."""

    max_send_rate: Optional[int] = None
    """Bytes per second that its tasks may send together; 0 is unlimited."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ProfileRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            name=wire["name"],
            origin=wire["origin"],
            base_url=wire.get("base_url"),
            headers=wire.get("headers"),
            header_rules=wire.get("header_rules"),
            languages=wire.get("languages"),
            cookies=wire.get("cookies"),
            credential=wire.get("credential"),
            client_cert=wire.get("client_cert"),
            proxy=wire.get("proxy"),
            credential_hook=wire.get("credential_hook"),
            redirect=wire.get("redirect"),
            max_redirects=wire.get("max_redirects"),
            allow_downgrade=wire.get("allow_downgrade"),
            http_version=wire.get("http_version"),
            connect_timeout=wire.get("connect_timeout"),
            idle_timeout=wire.get("idle_timeout"),
            total_timeout=wire.get("total_timeout"),
            min_recv_rate=wire.get("min_recv_rate"),
            min_recv_time=wire.get("min_recv_time"),
            accept_status=wire.get("accept_status"),
            accept_types=wire.get("accept_types"),
            reject_html=wire.get("reject_html"),
            announced_digests=wire.get("announced_digests"),
            cache_policy=wire.get("cache_policy"),
            store=wire.get("store"),
            cache_key=wire.get("cache_key"),
            allow_metered=wire.get("allow_metered"),
            ip_version=wire.get("ip_version"),
            interface=wire.get("interface"),
            resolve=wire.get("resolve"),
            connect_to=wire.get("connect_to"),
            max_active=wire.get("max_active"),
            polite=wire.get("polite"),
            max_recv_rate=wire.get("max_recv_rate"),
            max_send_rate=wire.get("max_send_rate"),
        )


class HeaderRuleInput(TypedDict, total=False):
    """A change to the header fields of requests to some hosts."""

    hosts: Sequence[str]
    """example.org, *.example.org or .example.org, each with an optional :port; none is every host.
    """

    set: HeaderList
    """Fields that replace those of the same names."""

    remove: Sequence[str]
    """Names of fields that are not sent."""


@dataclass(frozen=True)
class ProfileGetResult:
    """The profile."""

    profile: ProfileRecord
    """The profile."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ProfileGetResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            profile=ProfileRecord.from_wire(wire["profile"]),
        )


class ProfileInputRequired(TypedDict):
    """The fields that every ProfileInput has."""

    name: str
    """Lower-case letters, digits, -, _ and ."""


class ProfileInput(ProfileInputRequired, total=False):
    """Defaults for the requests of the tasks that refer to it."""

    base_url: str
    """Relative URLs of tasks are resolved against it; a slash is added to its path if it does not
    end in one.
    """

    headers: HeaderList
    """Header fields of requests that have none of the same name."""

    header_rules: Sequence[HeaderRuleInput]
    """Changes to the header fields by host, at every redirect."""

    languages: Sequence[str]
    """Language tags in order of preference, for Accept-Language."""

    cookies: CookieKeeping
    """jar: cookies are stored, also across restarts, and sent; default none."""

    credential: CredentialRecord
    """Credential; sent only to its origins (default: base_url's). Shown as *** or as the secret's
    place.
    """

    client_cert: ClientCertificateRecord
    """Client certificate for servers of base_url's origin that request one."""

    proxy: Union[str, ProxyRecordForm]
    """The proxy to go through; secrets are shown as ***."""

    credential_hook: str
    """A hook of the configuration that is run when a server refuses the credential (401), once for
    all tasks of the profile. It renews the secret in the credential's file; then each task
    repeats its request once.
    """

    redirect: RedirectPolicy
    """Treatment of redirects: follow or deny."""

    max_redirects: int
    """Highest number of successive redirects."""

    allow_downgrade: bool
    """True if redirects from https to http are allowed."""

    http_version: HTTPVersion
    """The protocol to use."""

    connect_timeout: float
    """Seconds for name resolution, TCP and TLS; 0 is unlimited."""

    idle_timeout: float
    """Seconds without a byte after which an attempt ends; 0 is never."""

    total_timeout: float
    """Seconds that one attempt may take; 0 is unlimited."""

    min_recv_rate: int
    """Minimum bytes per second of each connection; 0 turns this off."""

    min_recv_time: float
    """Seconds over which min_recv_rate is measured."""

    accept_status: str
    """Status codes of success."""

    accept_types: Sequence[str]
    """Accepted media types or ranges (image/*), or the presets json, xml, plist, image."""

    reject_html: bool
    """True if an answer with a web page (text/html) is a failure."""

    announced_digests: AnnouncedDigests
    """Treatment of digests that the server announces: verify or ignore."""

    cache_policy: CachePolicy
    """Use of cached responses; default reload, which never uses one."""

    store: bool
    """True to cache responses; the default depends on cache_policy."""

    cache_key: CacheKeyRecord
    """Parts of URLs that the cache ignores."""

    allow_metered: bool
    """True if tasks may use links that cost money."""

    ip_version: IPVersion
    """Addresses to connect to: any, IPv4 or IPv6."""

    interface: str
    """The network interface or local address to connect from."""

    resolve: Sequence[str]
    """Addresses to use in place of the resolver's: HOST:PORT:ADDRESS[,ADDRESS]."""

    connect_to: Sequence[str]
    """Targets to connect to in place of hosts and ports: HOST:PORT:TARGET:TARGETPORT."""

    max_active: int
    """Highest number of transfers of its tasks at once."""

    polite: bool
    """False lets the hosts of its tasks have up to 16 connections over HTTP/1.1, as queue.polite
    does.
    """

    max_recv_rate: int
    """Bytes per second that its tasks may receive together; 0 is unlimited."""

    max_send_rate: int
    """Bytes per second that its tasks may send together; 0 is unlimited."""


@dataclass(frozen=True)
class HookListResult:
    """All hooks."""

    hooks: List[HookRecord]
    """The hooks, by name."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> HookListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            hooks=listed(HookRecord.from_wire)(wire["hooks"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class HookRecord:
    """A command that tasks can refer to."""

    name: str
    """Its name."""

    argv: List[str]
    """The program's absolute path and its arguments."""

    timeout: int
    """Seconds it may take."""

    guests: bool
    """True if tasks of users who are not operators may refer to it."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> HookRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            name=wire["name"],
            argv=wire["argv"],
            timeout=wire["timeout"],
            guests=wire["guests"],
        )


@dataclass(frozen=True)
class WebhookListResult:
    """All webhooks."""

    webhooks: List[WebhookRecord]
    """The webhooks, by name."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> WebhookListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            webhooks=listed(WebhookRecord.from_wire)(wire["webhooks"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class WebhookRecord:
    """A receiver of events, and the state of its deliveries."""

    name: str
    """Its name."""

    url: str
    """URL to which events are sent; secrets in it are ***."""

    events: List[EventType]
    """The types that are sent; if empty, only the ends of tasks that refer to it."""

    signed: bool
    """True if deliveries are signed."""

    guests: bool
    """True if tasks of users who are not operators may refer to it."""

    pending: int
    """Deliveries that the receiver has not accepted yet."""

    failed: int
    """Deliveries that failed permanently in the last 7 days."""

    filter: Optional[WebhookFilterRecord] = None
    """Conditions for events of these types; owners are uids."""

    batch: Optional[int] = None
    """Highest number of events in a request; absent is one, without an array."""

    last_delivered_at: Optional[datetime] = None
    """Time at which the receiver last accepted a delivery."""

    last_failed_at: Optional[datetime] = None
    """Time of the last failed attempt."""

    last_failure: Optional[str] = None
    """Reason of the failure, without secrets."""

    paused_until: Optional[datetime] = None
    """While the receiver accepts nothing: time of the next attempt."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> WebhookRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            name=wire["name"],
            url=wire["url"],
            events=wire["events"],
            signed=wire["signed"],
            guests=wire["guests"],
            pending=wire["pending"],
            failed=wire["failed"],
            filter=optional(WebhookFilterRecord.from_wire, wire.get("filter")),
            batch=wire.get("batch"),
            last_delivered_at=optional(parse_time, wire.get("last_delivered_at")),
            last_failed_at=optional(parse_time, wire.get("last_failed_at")),
            last_failure=wire.get("last_failure"),
            paused_until=optional(parse_time, wire.get("paused_until")),
        )


@dataclass(frozen=True)
class WebhookFilterRecord:
    """Conditions for a webhook's events: an event has to satisfy every condition that is set."""

    groups: Optional[List[str]] = None
    """Only events about tasks of one of these groups."""

    labels: Optional[List[str]] = None
    """Only events about tasks with one of these labels."""

    owners: Optional[List[str]] = None
    """Only events about objects of one of these users."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> WebhookFilterRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            groups=wire.get("groups"),
            labels=wire.get("labels"),
            owners=wire.get("owners"),
        )


@dataclass(frozen=True)
class WebhookTestResult:
    """Result of the test."""

    accepted: bool
    """True if the receiver accepted it: a status from 200 to 299."""

    duration: float
    """Seconds it took."""

    status: Optional[int] = None
    """Status of the receiver's answer."""

    failure: Optional[str] = None
    """Reason why it was not accepted, without secrets."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> WebhookTestResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            accepted=wire["accepted"],
            duration=wire["duration"],
            status=wire.get("status"),
            failure=wire.get("failure"),
        )


@dataclass(frozen=True)
class StrictTransportListResult:
    """The hosts, and the treatment of their http URLs."""

    mode: StrictTransportMode
    """The setting trust.hsts: http URLs go over https (upgrade), are refused (deny), or nothing is
    remembered (off).
    """

    hosts: List[SecureHostRecord]
    """The hosts, by name; 4,096 at most on all pages."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> StrictTransportListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            mode=wire["mode"],
            hosts=listed(SecureHostRecord.from_wire)(wire["hosts"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class SecureHostRecord:
    """A host that has demanded https."""

    host: str
    """Its name."""

    include_subdomains: bool
    """True if the demand covers its subdomains."""

    expires_at: datetime
    """End of the demand unless the host repeats it."""

    noted_at: datetime
    """Time of the host's last demand."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SecureHostRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            host=wire["host"],
            include_subdomains=wire["include_subdomains"],
            expires_at=parse_time(wire["expires_at"]),
            noted_at=parse_time(wire["noted_at"]),
        )


@dataclass(frozen=True)
class StrictTransportClearResult:
    """The removed hosts."""

    removed: List[str]
    """The names of hosts that were known."""

    missing: List[str]
    """Names in the call that were not known."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> StrictTransportClearResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            removed=wire["removed"],
            missing=wire["missing"],
        )


@dataclass(frozen=True)
class EventsSubscribeResult:
    """The subscription."""

    subscription: int
    """Identifies the subscription on this connection."""

    last_seq: int
    """The highest sequence number at the time of the call."""

    gap: Optional[bool] = None
    """True if some events after since are no longer stored."""

    first_seq: Optional[int] = None
    """With gap: the oldest stored event; the replay begins there."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> EventsSubscribeResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            subscription=wire["subscription"],
            last_seq=wire["last_seq"],
            gap=wire.get("gap"),
            first_seq=wire.get("first_seq"),
        )


@dataclass(frozen=True)
class EventsSincePage:
    """Events in order."""

    events: List[Event]
    """The events."""

    last_seq: int
    """Last sequence number that this answer covers, including events that the filter excludes: the
    seq of the next call. Equal to the requested seq if there are no more events; lower if the
    newest event is older than seq.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> EventsSincePage:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            events=listed(decode_event)(wire["events"]),
            last_seq=wire["last_seq"],
        )


@dataclass(frozen=True)
class TaskAddedEvent:
    """A task was added."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.added"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    url: str
    """The URL; secrets in it are ***."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    label: Optional[str] = None
    """Its label."""

    group: Optional[str] = None
    """Its group."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskAddedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            url=wire["url"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
            label=wire.get("label"),
            group=wire.get("group"),
        )


@dataclass(frozen=True)
class TaskRestoredEvent:
    """A task that was running when the daemon stopped continues."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.restored"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    received: int
    """Bytes that were kept."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskRestoredEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            received=wire["received"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskStartedEvent:
    """An attempt began."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.started"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    attempt: int
    """Number of the attempt, from 1 over the task's life."""

    offset: int
    """Bytes kept from earlier attempts."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskStartedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            attempt=wire["attempt"],
            offset=wire["offset"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskResponseEvent:
    """The server answered."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.response"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    status: int
    """The answer's status."""

    total: Optional[int]
    """Complete length in bytes; null while unknown."""

    resumed: bool
    """True if kept bytes are continued."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    etag: Optional[str] = None
    """The source's entity tag."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskResponseEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            status=wire["status"],
            total=wire["total"],
            resumed=wire["resumed"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
            etag=wire.get("etag"),
        )


@dataclass(frozen=True)
class TaskRedirectedEvent:
    """A redirect was followed or refused, or an http URL was replaced by https."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.redirected"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    status: int
    """The redirect's status; 307 where no server redirected."""

    from_: str
    """URL that redirects; secrets in it are ***."""

    to: str
    """Target of the redirect; secrets in it are ***."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    decision: Optional[RedirectDecision] = None
    """Absent where it was followed; refused; delivered: its response is the result; upgraded: the
    host has demanded https, and the http URL is not requested.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskRedirectedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            status=wire["status"],
            from_=wire["from"],
            to=wire["to"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
            decision=wire.get("decision"),
        )


@dataclass(frozen=True)
class TaskWaitingEvent:
    """A task cannot start or continue now; nothing is lost."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.waiting"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    wait: WaitRecord
    """Reason of the wait."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    error: Optional[FailureRecord] = None
    """The failure that caused the wait."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskWaitingEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            wait=WaitRecord.from_wire(wire["wait"]),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
            error=optional(FailureRecord.from_wire, wire.get("error")),
        )


@dataclass(frozen=True)
class TaskPausedEvent:
    """A task was paused."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.paused"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    received: int
    """Bytes that were committed by then; later bytes are kept as well, and task.get shows them."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskPausedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            received=wire["received"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskResumedEvent:
    """A paused task is queued again."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.resumed"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskResumedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskSourceChangedEvent:
    """The kept bytes belong to another version of the source and are discarded; the task starts
    over.
    """

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.source_changed"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    reason: str
    """Evidence of the change."""

    dropped: int
    """Bytes that were discarded."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskSourceChangedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            reason=wire["reason"],
            dropped=wire["dropped"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskBytesDiscardedEvent:
    """Received bytes are discarded for a reason other than a new version of the source, or sent
    ones were lost by the server; they are transferred again if the task continues.
    """

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.bytes_discarded"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    reason: str
    """Reason why they cannot be used."""

    dropped: int
    """Bytes that were discarded."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskBytesDiscardedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            reason=wire["reason"],
            dropped=wire["dropped"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskWarningEvent:
    """The response has an unexpected property; the task continues."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.warning"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    warning: str
    """The unexpected property, in English."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskWarningEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            warning=wire["warning"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class CacheHitEvent:
    """A cached response is used. With cache_policy revalidate it is reported before the request is
    made: task.result of a data task returns it at once.
    """

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["cache.hit"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    age: Optional[int]
    """Seconds since the server made or confirmed it; null when the clock was set back."""

    fresh: bool
    """True if it may be used without a request (RFC 9111 section 4.2)."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CacheHitEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            age=wire["age"],
            fresh=wire["fresh"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskRefreshedEvent:
    """After cache.hit: the server sent another response, and the task uses it."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.refreshed"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskRefreshedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskNotModifiedEvent:
    """After cache.hit: the server confirms the cached response, and the task uses it."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.not_modified"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskNotModifiedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskStagedEvent:
    """A download is complete, verified and processed, and waits for task.commit or task.cancel. It
    is not terminal: one of task.completed, task.cancelled and task.superseded follows.
    """

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.staged"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    state: TaskState
    """State of the task."""

    size: int
    """The file's length in bytes."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskStagedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            state=wire["state"],
            size=wire["size"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskCompletedEvent:
    """A task has completed: its file is complete, verified, durable and under its final name."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.completed"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    terminal: bool
    """True."""

    state: TaskState
    """State at the end."""

    size: int
    """Its length in bytes."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    path: Optional[str] = None
    """Absolute path of the file."""

    skipped: Optional[bool] = None
    """True if the name was taken and on_conflict is skip or verify."""

    not_modified: Optional[bool] = None
    """True if on_conflict is update and the file was current."""

    warning: Optional[str] = None
    """Warning about the file, in English, as in the task's record: it is a web page, but its name
    does not suggest one.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskCompletedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            terminal=wire["terminal"],
            state=wire["state"],
            size=wire["size"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
            path=wire.get("path"),
            skipped=wire.get("skipped"),
            not_modified=wire.get("not_modified"),
            warning=wire.get("warning"),
        )


@dataclass(frozen=True)
class TaskFailedEvent:
    """A task has failed; task.retry continues it with the bytes it kept."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.failed"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    terminal: bool
    """True."""

    state: TaskState
    """State at the end."""

    error: FailureRecord
    """Why."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskFailedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            terminal=wire["terminal"],
            state=wire["state"],
            error=FailureRecord.from_wire(wire["error"]),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskCancelledEvent:
    """A task was cancelled; its partial bytes are deleted."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.cancelled"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    terminal: bool
    """True."""

    state: TaskState
    """State at the end."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskCancelledEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            terminal=wire["terminal"],
            state=wire["state"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskSupersededEvent:
    """The task is cancelled because another took its slot; its partial bytes are deleted. No
    task.cancelled follows.
    """

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.superseded"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    terminal: bool
    """True."""

    state: TaskState
    """State at the end."""

    by: TaskID
    """The task that occupies the slot now."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskSupersededEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            terminal=wire["terminal"],
            state=wire["state"],
            by=wire["by"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskRemovedEvent:
    """A task was removed."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["task.removed"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskRemovedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class BatchCompletedEvent:
    """The last member of a batch has ended. Sent once per batch, even if members are retried or
    removed later.
    """

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["batch.completed"]

    batch: BatchID
    """The batch."""

    total: int
    """Number of members when the batch was added."""

    finished: int
    """Members that have ended: all of them."""

    failed: int
    """Number of members that failed."""

    skipped: int
    """The same number as failed, under its name before 1.0.0."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> BatchCompletedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            batch=wire["batch"],
            total=wire["total"],
            finished=wire["finished"],
            failed=wire["failed"],
            skipped=wire["skipped"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class OperationProgressEvent:
    """Progress of a background operation; at most once a second."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["operation.progress"]

    operation: OperationID
    """The operation."""

    verb: OperationVerb
    """The verb that is applied to each task."""

    changed_count: int
    """Tasks that changed so far."""

    unchanged_count: int
    """Tasks that did not change."""

    reached: TaskID
    """The operation has processed the tasks with ids up to this one."""

    last: TaskID
    """The newest task at the time of the call, with which the operation ends."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> OperationProgressEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            operation=wire["operation"],
            verb=wire["verb"],
            changed_count=wire["changed_count"],
            unchanged_count=wire["unchanged_count"],
            reached=wire["reached"],
            last=wire["last"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class OperationEndedEvent:
    """A background operation has ended; operation.get gives its result."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["operation.ended"]

    operation: OperationID
    """The operation."""

    verb: OperationVerb
    """The verb that was applied to each task."""

    state: OperationState
    """completed, failed or cancelled."""

    changed_count: int
    """Tasks that changed."""

    unchanged_count: int
    """Tasks that did not change."""

    refused_count: int
    """Tasks for which the verb failed."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    error: Optional[str] = None
    """Reason of the failure, in English."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> OperationEndedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            operation=wire["operation"],
            verb=wire["verb"],
            state=wire["state"],
            changed_count=wire["changed_count"],
            unchanged_count=wire["unchanged_count"],
            refused_count=wire["refused_count"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
            error=wire.get("error"),
        )


@dataclass(frozen=True)
class WebhookDiscardedEvent:
    """Events of a user are not sent to webhooks, because too many are waiting. Reported once, until
    half of the limit is free again; no webhook gets this event.
    """

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["webhook.discarded"]

    limit: int
    """Bytes of the user's events that may wait (access.max_undelivered)."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> WebhookDiscardedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            limit=wire["limit"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class QueueIdleEvent:
    """No task is queued, waiting for a time, or running."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["queue.idle"]

    completed: int
    """Tasks that are completed."""

    failed: int
    """Tasks that have failed."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> QueueIdleEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            completed=wire["completed"],
            failed=wire["failed"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class ActivityChangedEvent:
    """Transfers began or ended, debounced."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["activity.changed"]

    active: bool
    """True if transfers run."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ActivityChangedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            active=wire["active"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class NetworkChangedEvent:
    """The network has changed; the first event after daemon.started reports the state at the start.
    See network.status.
    """

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["network.changed"]

    network: NetworkState
    """Present state."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> NetworkChangedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            network=wire["network"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class PolicyViolationEvent:
    """A report_only trust policy would have refused a server; the connection was used."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["policy.violation"]

    policy: str
    """The policy's name."""

    version: int
    """Its version."""

    host: str
    """The server's host."""

    port: int
    """The server's port."""

    reason: str
    """pin_mismatch or revocation_unknown when nothing else is wrong, else trust_rejected."""

    problem: str
    """Description of the failure."""

    chain: List[ShownCertificateRecord]
    """Certificates that the server sent, leaf first."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    verify_error: Optional[int] = None
    """OpenSSL's X509_V_ERR code, if a chain is at fault."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> PolicyViolationEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            policy=wire["policy"],
            version=wire["version"],
            host=wire["host"],
            port=wire["port"],
            reason=wire["reason"],
            problem=wire["problem"],
            chain=listed(ShownCertificateRecord.from_wire)(wire["chain"]),
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
            verify_error=wire.get("verify_error"),
        )


@dataclass(frozen=True)
class ShownCertificateRecord:
    """A certificate that a server sent."""

    subject: str
    """Names in the certificate."""

    pin: str
    """The pin of its key: sha256/BASE64."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ShownCertificateRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            subject=wire["subject"],
            pin=wire["pin"],
        )


@dataclass(frozen=True)
class PolicyExpiringEvent:
    """A trust policy's pins will no longer be enforced after its expires_at; reported 30, 7 and 1
    days before, and at that time.
    """

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["policy.expiring"]

    policy: str
    """The policy's name."""

    version: int
    """Its version."""

    expires_at: datetime
    """Time from which the ordinary check applies."""

    days: int
    """30, 7 or 1 days before; 0 when it has expired."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> PolicyExpiringEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            policy=wire["policy"],
            version=wire["version"],
            expires_at=parse_time(wire["expires_at"]),
            days=wire["days"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class SessionInvalidatedEvent:
    """A trust policy was edited or removed: connections judged by that version are closed, and the
    tasks that used them stop at the next safe point and are judged again.
    """

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["session.invalidated"]

    policy: str
    """The policy's name."""

    version: int
    """The version that is no longer in force."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SessionInvalidatedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            policy=wire["policy"],
            version=wire["version"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class DaemonStartedEvent:
    """The daemon started."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["daemon.started"]

    version: str
    """Its version."""

    queued: int
    """Tasks that are queued."""

    restored: int
    """Tasks that were running when it stopped."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> DaemonStartedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            version=wire["version"],
            queued=wire["queued"],
            restored=wire["restored"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class DaemonStoppingEvent:
    """The daemon is stopping."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["daemon.stopping"]

    mode: ShutdownMode
    """Treatment of unfinished tasks."""

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> DaemonStoppingEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            mode=wire["mode"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class TaskProgressEvent:
    """Progress of a running task; not durable, and coalesced."""

    time: datetime
    """Time of the event."""

    type: Literal["task.progress"]

    phase: TaskPhase
    """Present step of the task."""

    received: int
    """Bytes received so far, including those kept from earlier attempts."""

    sent: int
    """Bytes sent."""

    total: Optional[int]
    """Complete length in bytes; null while unknown."""

    rate: int
    """Bytes per second over the last seconds."""

    eta: Optional[int]
    """Seconds until the end at that rate; null while unknown."""

    seq: Optional[int] = None
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    connections: Optional[int] = None
    """Requests in progress; more than one for a transfer in segments or parts, absent if there are
    none.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TaskProgressEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            time=parse_time(wire["time"]),
            type=wire["type"],
            phase=wire["phase"],
            received=wire["received"],
            sent=wire["sent"],
            total=wire["total"],
            rate=wire["rate"],
            eta=wire["eta"],
            seq=wire.get("seq"),
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
            connections=wire.get("connections"),
        )


@dataclass(frozen=True)
class EventsOverflowEvent:
    """The client did not read its events in time; this subscription has ended. Continue with
    events.since.
    """

    time: datetime
    """Time of the event."""

    type: Literal["events.overflow"]

    last_seq: int
    """The last durable event that the subscription delivered."""

    seq: Optional[int] = None
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> EventsOverflowEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            time=parse_time(wire["time"]),
            type=wire["type"],
            last_seq=wire["last_seq"],
            seq=wire.get("seq"),
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class FleetTaskReleasedEvent:
    """In a fleet: a node gave a task back, or lost it; any node of its place may take it."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["fleet.task_released"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetTaskReleasedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class FleetTaskChangedEvent:
    """In a fleet: a task's place, priority or limits were changed."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["fleet.task_changed"]

    task_id: TaskID
    """The task concerned."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    wish: Optional[str] = None
    """The requested change."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetTaskChangedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire["task_id"],
            owner=wire["owner"],
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
            wish=wire.get("wish"),
        )


@dataclass(frozen=True)
class FleetNodeJoinedEvent:
    """In a fleet: a node has joined, or has come back."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["fleet.node_joined"]

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetNodeJoinedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class FleetNodeDownEvent:
    """In a fleet: a node has been silent so long that others take over its tasks."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["fleet.node_down"]

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetNodeDownEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class FleetNodeDrainingEvent:
    """In a fleet: a node finishes its tasks and claims no more."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["fleet.node_draining"]

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetNodeDrainingEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class FleetNodeUndrainedEvent:
    """In a fleet: a node takes tasks again."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["fleet.node_undrained"]

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetNodeUndrainedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class FleetNodeForgottenEvent:
    """In a fleet: a node that is permanently lost was removed."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["fleet.node_forgotten"]

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetNodeForgottenEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class FleetLimitChangedEvent:
    """In a fleet: a limit of a host, a group or an owner changed, or a group was paused or resumed.
    """

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["fleet.limit_changed"]

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetLimitChangedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class FleetCreatedEvent:
    """In a fleet: its database was created. This is the first event."""

    seq: int
    """Number of the event; durable events are counted over the whole service and across restarts.
    """

    time: datetime
    """Time of the event."""

    type: Literal["fleet.created"]

    task_id: Optional[TaskID] = None
    """The task concerned."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that runs the task. Its file is there, under that node's paths."""

    prev_seq: Optional[int] = None
    """In a notification: seq of the previous durable event in this subscription; 0 for the first.
    """

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetCreatedEvent:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            seq=wire["seq"],
            time=parse_time(wire["time"]),
            type=wire["type"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class EventsSinceGap:
    """Events after that sequence number are no longer stored."""

    gap: bool
    """True."""

    first_seq: int
    """The oldest stored event."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> EventsSinceGap:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            gap=wire["gap"],
            first_seq=wire["first_seq"],
        )


@dataclass(frozen=True)
class NetworkStatusResult:
    """State of the network."""

    state: NetworkState
    """unknown (treated as online), offline (no usable default route), metered or unmetered."""

    monitored: bool
    """True if links, addresses and routes are watched (network.monitor)."""

    interfaces: List[NetworkStatusInterface]
    """Network interfaces by index; empty while they are not watched."""

    route: Optional[NetworkStatusRoute] = None
    """Route to the requested host."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> NetworkStatusResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            state=wire["state"],
            monitored=wire["monitored"],
            interfaces=listed(NetworkStatusInterface.from_wire)(wire["interfaces"]),
            route=optional(NetworkStatusRoute.from_wire, wire.get("route")),
        )


@dataclass(frozen=True)
class NetworkStatusInterface:
    """A network interface."""

    name: str
    """Its name."""

    index: int
    """Its number."""

    running: bool
    """True if it is up and has a carrier."""

    metered: bool
    """True if network.metered_interfaces lists it."""

    default_route: bool
    """True if a default route uses it."""

    addresses: List[str]
    """Its addresses with the lengths of their prefixes."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> NetworkStatusInterface:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            name=wire["name"],
            index=wire["index"],
            running=wire["running"],
            metered=wire["metered"],
            default_route=wire["default_route"],
            addresses=wire["addresses"],
        )


@dataclass(frozen=True)
class NetworkStatusRoute:
    """The route to a host."""

    host: str
    """The requested host."""

    exists: Optional[bool]
    """True if there is a route; null for a name."""

    source: Optional[str] = None
    """Source address of this machine."""

    interface: Optional[str] = None
    """The interface that has this address, if known."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> NetworkStatusRoute:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            host=wire["host"],
            exists=wire["exists"],
            source=wire.get("source"),
            interface=wire.get("interface"),
        )


@dataclass(frozen=True)
class TokenAddResult:
    """The new token."""

    token: TokenRecord
    """Id in the answer of token.list."""

    secret: str
    """The token itself, for Authorization: Bearer. It cannot be shown again."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TokenAddResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            token=TokenRecord.from_wire(wire["token"]),
            secret=wire["secret"],
        )


@dataclass(frozen=True)
class TokenRecord:
    """A token of clients on the network, without the token itself."""

    name: str
    """Its name."""

    user: Owner
    """Uid of the user for whom it acts."""

    scope: TokenScope
    """Rights of the token, within the rights of its user."""

    created_at: datetime
    """Time at which the token was created."""

    expires_at: Optional[datetime] = None
    """Expiry; absent is never."""

    dir: Optional[str] = None
    """The directory beneath which its tasks write; absent is download.dir."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TokenRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            name=wire["name"],
            user=wire["user"],
            scope=wire["scope"],
            created_at=parse_time(wire["created_at"]),
            expires_at=optional(parse_time, wire.get("expires_at")),
            dir=wire.get("dir"),
        )


@dataclass(frozen=True)
class TokenListResult:
    """All tokens."""

    tokens: List[TokenRecord]
    """The tokens, by name."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TokenListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            tokens=listed(TokenRecord.from_wire)(wire["tokens"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class LeaseRenewResult:
    """The daemon's clock."""

    now: float
    """Seconds of CLOCK_BOOTTIME of the daemon's machine."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> LeaseRenewResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            now=wire["now"],
        )


@dataclass(frozen=True)
class DaemonStatusResult:
    """Identity and health of the daemon."""

    version: str
    """The daemon's version, as `xferd --version` prints it."""

    pid: int
    """Its process id."""

    uptime: int
    """Seconds since it started."""

    state_dir: str
    """Absolute path of its state directory."""

    socket: str
    """The socket it answers on."""

    store_id: str
    """Identity of the database. If it changes, ids and sequence numbers start from the beginning.
    """

    degraded: bool
    """True if the database (nothing starts, reading works) or another file of the daemon cannot be
    written, or a trust policy in the database cannot be read, or conflicts with one of the
    configuration (nothing starts).
    """

    shutting_down: bool
    """True if it is about to stop and accepts no new work."""

    counts: StateCounts
    """Tasks by state."""

    network: NetworkState
    """State of the network in the last network.changed."""

    activity: bool
    """True if transfers run, debounced."""

    node: Optional[str] = None
    """For xfer-fleet: the node that answers. Tasks and counts are those of its fleet."""

    degraded_reason: Optional[str] = None
    """The part that cannot be used, and the reason."""

    damaged_rows: Optional[List[str]] = None
    """Trust policies, profiles, tokens and tasks that cannot be read from the database and have no
    effect, such as profile "mirror" or task 17, found so far; at most 1,000 tasks. For
    operators.
    """

    config_problem: Optional[str] = None
    """Reason why the configuration file was not applied when it was last read; for operators."""

    config_conflicts: Optional[List[str]] = None
    """Trust policies and profiles of the configuration file that are not in force, because others
    with their names or hosts were set over RPC, each with the remedy; for operators.
    """

    restart_keys: Optional[List[str]] = None
    """Keys of the configuration whose new values wait for a restart; for operators."""

    failing_webhooks: Optional[List[str]] = None
    """Webhooks that did not accept the last delivery, each with the reason; for operators."""

    queue_paused: Optional[bool] = None
    """True if an operator has paused the queue."""

    file_systems: Optional[List[FileSystemRecord]] = None
    """File systems that the daemon has used and that are still mounted; for operators."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> DaemonStatusResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            version=wire["version"],
            pid=wire["pid"],
            uptime=wire["uptime"],
            state_dir=wire["state_dir"],
            socket=wire["socket"],
            store_id=wire["store_id"],
            degraded=wire["degraded"],
            shutting_down=wire["shutting_down"],
            counts=StateCounts.from_wire(wire["counts"]),
            network=wire["network"],
            activity=wire["activity"],
            node=wire.get("node"),
            degraded_reason=wire.get("degraded_reason"),
            damaged_rows=wire.get("damaged_rows"),
            config_problem=wire.get("config_problem"),
            config_conflicts=wire.get("config_conflicts"),
            restart_keys=wire.get("restart_keys"),
            failing_webhooks=wire.get("failing_webhooks"),
            queue_paused=wire.get("queue_paused"),
            file_systems=optional(listed(FileSystemRecord.from_wire), wire.get("file_systems")),
        )


@dataclass(frozen=True)
class DaemonConfigResult:
    """The settings in force."""

    file: Optional[str]
    """Absolute path of the configuration file that was read; null if there was none."""

    settings: List[DaemonConfigSetting]
    """Every setting."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> DaemonConfigResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            file=wire["file"],
            settings=listed(DaemonConfigSetting.from_wire)(wire["settings"]),
        )


@dataclass(frozen=True)
class DaemonConfigSetting:
    """One setting."""

    key: str
    """Its name in the configuration file, with dots."""

    value: Any
    """Its value in the form of the configuration file: YAML text."""

    origin: str
    """Origin of the value, for people: command line, environment NAME, FILE:LINE, queue.set_limits
    or default.
    """

    reloadable: bool
    """True if a change takes effect without a restart."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> DaemonConfigSetting:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            key=wire["key"],
            value=wire["value"],
            origin=wire["origin"],
            reloadable=wire["reloadable"],
        )


@dataclass(frozen=True)
class DaemonBackupResult:
    """The copy that was written."""

    file: str
    """Its absolute path."""

    size: int
    """Its length in bytes."""

    store_id: str
    """The id of the database that was copied."""

    seq: int
    """The sequence number of the newest event in it."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> DaemonBackupResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            file=wire["file"],
            size=wire["size"],
            store_id=wire["store_id"],
            seq=wire["seq"],
        )


@dataclass(frozen=True)
class DaemonShutdownResult:
    """Mode of the shutdown."""

    mode: ShutdownMode
    """Mode of the shutdown."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> DaemonShutdownResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            mode=wire["mode"],
        )


@dataclass(frozen=True)
class FleetStatusResult:
    """State of the fleet as this node knows it."""

    fleet: str
    """Identifies the fleet; changes with a new database."""

    node: str
    """The node that answers."""

    version: str
    """The version of its xfer-fleet."""

    schema: int
    """The number of the database's schema."""

    daemon: bool
    """True if the node's xferd answers."""

    nodes: int
    """Number of known nodes."""

    live: int
    """Number of nodes whose beats this node has recently observed."""

    counts: StateCounts
    """Tasks by state."""

    daemon_problem: Optional[str] = None
    """Reason why the node's xferd cannot be used."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetStatusResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            fleet=wire["fleet"],
            node=wire["node"],
            version=wire["version"],
            schema=wire["schema"],
            daemon=wire["daemon"],
            nodes=wire["nodes"],
            live=wire["live"],
            counts=StateCounts.from_wire(wire["counts"]),
            daemon_problem=wire.get("daemon_problem"),
        )


@dataclass(frozen=True)
class FleetNodesResult:
    """The nodes by name."""

    nodes: List[FleetNodeRecord]
    """The nodes."""

    next_cursor: Optional[str]
    """Cursor of the next page; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetNodesResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            nodes=listed(FleetNodeRecord.from_wire)(wire["nodes"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class FleetNodeRecord:
    """A node of the fleet."""

    name: str
    """Identifies the node."""

    state: FleetNodeState
    """State of its beats, as seen by the node that answers."""

    draining: bool
    """True if it claims no new tasks."""

    places: List[str]
    """Places whose tasks it claims, in addition to tasks for this node alone."""

    slots: int
    """Highest number of tasks that it claims."""

    leases: int
    """Tasks that it has claimed. A draining node with no tasks may be stopped."""

    pinned: int
    """Unfinished tasks that only it can carry out."""

    version: str
    """The version of its xfer-fleet."""

    beat: int
    """Counter that grows while the node is alive."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetNodeRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            name=wire["name"],
            state=wire["state"],
            draining=wire["draining"],
            places=wire["places"],
            slots=wire["slots"],
            leases=wire["leases"],
            pinned=wire["pinned"],
            version=wire["version"],
            beat=wire["beat"],
        )


@dataclass(frozen=True)
class FleetDrainResult:
    """Present state of the node."""

    node: FleetNodeRecord
    """Present state of the node."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetDrainResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            node=FleetNodeRecord.from_wire(wire["node"]),
        )


@dataclass(frozen=True)
class FleetForgetResult:
    """Effects of removing the node on its tasks."""

    forgotten: bool
    """True if the node was removed."""

    requeued: List[TaskID]
    """Tasks that other nodes take, at most 1,000 of them."""

    failed: List[TaskID]
    """Tasks that no other node can take, at most 1,000 of them."""

    requeued_count: int
    """Number of tasks that are queued again."""

    failed_count: int
    """Number of tasks that fail."""

    parts: int
    """Number of the node's partial files on shared storages; with confirm they were removed."""

    storages_left: List[str]
    """Shared storages that this node cannot read: partial files may remain there."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetForgetResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            forgotten=wire["forgotten"],
            requeued=wire["requeued"],
            failed=wire["failed"],
            requeued_count=wire["requeued_count"],
            failed_count=wire["failed_count"],
            parts=wire["parts"],
            storages_left=wire["storages_left"],
        )


CacheKey = Union[str, CacheKeyRecord]
"""Key of a URL in the cache: a text that replaces the URL, or the parts of the URL to ignore."""


TaskAddResult = Union[TaskAddOne, TaskAddMany]


SelectionResult = Union[SelectionResultListed, SelectionResultCounted, SelectionResultBegun]


TaskUpdateManyResult = Union[SelectionResultCounted, SelectionResultBegun]


Event = Union[
    TaskAddedEvent,
    TaskRestoredEvent,
    TaskStartedEvent,
    TaskResponseEvent,
    TaskRedirectedEvent,
    TaskWaitingEvent,
    TaskPausedEvent,
    TaskResumedEvent,
    TaskSourceChangedEvent,
    TaskBytesDiscardedEvent,
    TaskWarningEvent,
    CacheHitEvent,
    TaskRefreshedEvent,
    TaskNotModifiedEvent,
    TaskStagedEvent,
    TaskCompletedEvent,
    TaskFailedEvent,
    TaskCancelledEvent,
    TaskSupersededEvent,
    TaskRemovedEvent,
    BatchCompletedEvent,
    OperationProgressEvent,
    OperationEndedEvent,
    WebhookDiscardedEvent,
    QueueIdleEvent,
    ActivityChangedEvent,
    NetworkChangedEvent,
    PolicyViolationEvent,
    PolicyExpiringEvent,
    SessionInvalidatedEvent,
    DaemonStartedEvent,
    DaemonStoppingEvent,
    TaskProgressEvent,
    EventsOverflowEvent,
    FleetTaskReleasedEvent,
    FleetTaskChangedEvent,
    FleetNodeJoinedEvent,
    FleetNodeDownEvent,
    FleetNodeDrainingEvent,
    FleetNodeUndrainedEvent,
    FleetNodeForgottenEvent,
    FleetLimitChangedEvent,
    FleetCreatedEvent,
    UnknownEvent,
]
"""An event."""


EventsSinceResult = Union[EventsSincePage, EventsSinceGap]


def decode_task_add_result(wire: Mapping[str, Any]) -> TaskAddResult:
    """Reads the alternative whose required fields are there."""
    if "task" in wire:
        return TaskAddOne.from_wire(wire)
    return TaskAddMany.from_wire(wire)


def decode_selection_result(wire: Mapping[str, Any]) -> SelectionResult:
    """Reads the alternative whose required fields are there."""
    if "changed" in wire and "unchanged" in wire and "missing" in wire:
        return SelectionResultListed.from_wire(wire)
    if "changed_count" in wire and "unchanged_count" in wire:
        return SelectionResultCounted.from_wire(wire)
    return SelectionResultBegun.from_wire(wire)


def decode_task_update_many_result(wire: Mapping[str, Any]) -> TaskUpdateManyResult:
    """Reads the alternative whose required fields are there."""
    if "changed_count" in wire and "unchanged_count" in wire:
        return SelectionResultCounted.from_wire(wire)
    return SelectionResultBegun.from_wire(wire)


EVENT_TYPES: Dict[str, Callable[[Mapping[str, Any]], Event]] = {
    "task.added": TaskAddedEvent.from_wire,
    "task.restored": TaskRestoredEvent.from_wire,
    "task.started": TaskStartedEvent.from_wire,
    "task.response": TaskResponseEvent.from_wire,
    "task.redirected": TaskRedirectedEvent.from_wire,
    "task.waiting": TaskWaitingEvent.from_wire,
    "task.paused": TaskPausedEvent.from_wire,
    "task.resumed": TaskResumedEvent.from_wire,
    "task.source_changed": TaskSourceChangedEvent.from_wire,
    "task.bytes_discarded": TaskBytesDiscardedEvent.from_wire,
    "task.warning": TaskWarningEvent.from_wire,
    "cache.hit": CacheHitEvent.from_wire,
    "task.refreshed": TaskRefreshedEvent.from_wire,
    "task.not_modified": TaskNotModifiedEvent.from_wire,
    "task.staged": TaskStagedEvent.from_wire,
    "task.completed": TaskCompletedEvent.from_wire,
    "task.failed": TaskFailedEvent.from_wire,
    "task.cancelled": TaskCancelledEvent.from_wire,
    "task.superseded": TaskSupersededEvent.from_wire,
    "task.removed": TaskRemovedEvent.from_wire,
    "batch.completed": BatchCompletedEvent.from_wire,
    "operation.progress": OperationProgressEvent.from_wire,
    "operation.ended": OperationEndedEvent.from_wire,
    "webhook.discarded": WebhookDiscardedEvent.from_wire,
    "queue.idle": QueueIdleEvent.from_wire,
    "activity.changed": ActivityChangedEvent.from_wire,
    "network.changed": NetworkChangedEvent.from_wire,
    "policy.violation": PolicyViolationEvent.from_wire,
    "policy.expiring": PolicyExpiringEvent.from_wire,
    "session.invalidated": SessionInvalidatedEvent.from_wire,
    "daemon.started": DaemonStartedEvent.from_wire,
    "daemon.stopping": DaemonStoppingEvent.from_wire,
    "task.progress": TaskProgressEvent.from_wire,
    "events.overflow": EventsOverflowEvent.from_wire,
    "fleet.task_released": FleetTaskReleasedEvent.from_wire,
    "fleet.task_changed": FleetTaskChangedEvent.from_wire,
    "fleet.node_joined": FleetNodeJoinedEvent.from_wire,
    "fleet.node_down": FleetNodeDownEvent.from_wire,
    "fleet.node_draining": FleetNodeDrainingEvent.from_wire,
    "fleet.node_undrained": FleetNodeUndrainedEvent.from_wire,
    "fleet.node_forgotten": FleetNodeForgottenEvent.from_wire,
    "fleet.limit_changed": FleetLimitChangedEvent.from_wire,
    "fleet.created": FleetCreatedEvent.from_wire,
}


def decode_events_since_result(wire: Mapping[str, Any]) -> EventsSinceResult:
    """Reads the alternative whose required fields are there."""
    if "events" in wire and "last_seq" in wire:
        return EventsSincePage.from_wire(wire)
    return EventsSinceGap.from_wire(wire)


def decode_event(wire: Mapping[str, Any]) -> Event:
    """Reads an event. One of a type that this version does not know is an UnknownEvent."""
    return EVENT_TYPES.get(wire["type"], UnknownEvent.from_wire)(wire)
