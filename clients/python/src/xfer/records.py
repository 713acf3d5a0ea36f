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
"""Header fields by name; an array where a field is repeated, null for one of the profile's that is
not wanted.
"""


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


ConflictPolicy = Literal["rename", "overwrite", "skip", "fail", "update", "verify"]


Priority = Literal["low", "normal", "high"]


FinalizeMode = Literal["auto", "manual"]


TaskReference = int
"""A task's id; negative, within one task.add, it counts back from the task's own place in tasks."""


Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


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
"""Names a task; never reused."""


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
    "clock",
    "storage",
    "out_of_descriptors",
    "suspect",
    "queue_paused",
    "group_paused",
    "host_full",
    "group_full",
    "profile_full",
    "queue_full",
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
    "self_signed",
    "unknown_authority",
    "wrong_host_name",
    "certificate_dates",
    "proxy_negotiate",
    "proxy_login_unsupported",
]


TransferID = int
"""Names a transfer; never reused."""


BodySummaryForm = Literal["inline", "file", "parts"]


BatchID = int
"""Names a batch; never reused."""


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
"""Names of a task's fields; id is always given."""


TaskListOrder = Literal["asc", "desc", "queue"]


TaskMovePosition = Literal["top", "bottom", "before", "after"]


TaskResultEncoding = Literal["utf-8", "base64"]


QueueOrder = Literal["fifo", "lifo"]


HostProtocol = Literal["http/1.1", "http/2"]


HostReason = Literal["growing", "unneeded", "most", "refused", "no_gain", "silent"]


BatchEntry = Any
"""A URL, or an object with a task's fields as task.add takes them, but group and client_key.
Anything else is reported as a bad entry.
"""


ListOrder = Literal["asc", "desc"]


CacheEntryID = int
"""Names an entry of the cache; never reused."""


FailedURLID = int
"""Names an entry of the failed-URL list; never reused."""


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
    """What a request sends, in exactly one of these forms."""

    form: Mapping[str, Any]
    """A form (application/x-www-form-urlencoded), encoded as params are; {} is an empty one."""

    charset: FormCharset
    """The encoding of the form's text, named in Content-Type unless headers has one; default utf-8.
    """

    json: Any
    """Any JSON; Content-Type is application/json unless headers has one."""

    raw: str
    """Text, sent as UTF-8; headers say what it is."""

    base64: str
    """Bytes; headers say what they are."""

    file: str
    """Absolute path of a file that is streamed; it must not change before it was sent."""


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
    """The name told to the server; default is a file's own, and none for data."""

    content_type: str
    """The part's media type."""

    headers: HeaderList
    """Further header fields of the part."""


class WindowRecord(TypedDict, total=False):
    """Times of day, on some days of the week, within which the task may run; what a clock on the
    wall shows counts.
    """

    times: Sequence[str]
    """From one time of day until before another, which is the next day's if it is not later; any of
    them; default is the whole day.
    """

    days: Sequence[Weekday]
    """The days on which times begin; default is every day."""

    zone: str
    """A time zone's name such as Europe/Berlin; local, the default, is the machine's own."""


class CredentialRecord(TypedDict, total=False):
    """Who the service claims to be; all but scheme and origins is *** when shown."""

    scheme: CredentialScheme
    """How it is shown to the server; default basic."""

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
    """Whom it is sent to, scheme://host[:port] each; default is the origin of the URL, of a
    profile's base_url.
    """


class SecretReference(TypedDict, total=False):
    """Where the service reads a secret at every attempt; only operators may name one."""

    file: str
    """Absolute path of a file that only its owner can read; a newline at its end is dropped."""

    systemd: str
    """A credential of the unit (systemd.exec(5), LoadCredential=)."""

    env: str
    """A variable of the daemon's environment."""


class ClientCertificateRecord(TypedDict):
    """Files the service reads a client certificate from."""

    certificate: str
    """Absolute path of the PEM file with the leaf and its intermediates."""

    key: str
    """Absolute path of the PEM file with its key, readable by its owner only."""


class CookieRecordRequired(TypedDict):
    """The fields that every CookieRecord has."""

    domain: str
    """The host that gets it."""

    name: str
    """Its name."""

    value: str
    """Its value."""


class CookieRecord(CookieRecordRequired, total=False):
    """A cookie and the servers it is for; its value is *** when shown."""

    include_subdomains: bool
    """Whether hosts below it get it, too; default false."""

    path: str
    """The path that it is for, with all below; default /."""

    secure: bool
    """Whether it is sent over https only; default false."""

    expires: int
    """When it ends, in seconds since 1970; 0, the default, is never."""


class ProxyRecordFormRequired(TypedDict):
    """The fields that every ProxyRecordForm has."""

    url: str
    """http://, https://, socks5:// or socks5h:// with host and port; no user info."""


class ProxyRecordForm(ProxyRecordFormRequired, total=False):
    """A proxy, how to log in there, and which hosts are reached without it."""

    credential: CredentialRecord
    """Shown to the proxy only; basic, digest or negotiate."""

    no_proxy: Sequence[str]
    """Hosts that are reached directly: names with their subdomains, addresses, CIDR blocks; * is
    all.
    """


class CacheKeyRecord(TypedDict, total=False):
    """What of URLs does not count in the cache; those that are alike otherwise are one."""

    ignore_query: bool
    """Leave the whole query out."""

    ignore_params: Sequence[str]
    """Names of query parameters to leave out, as they stand in the URL; a * at the end matches any
    rest.
    """

    host: str
    """A name that stands for scheme, host and port: mirrors of the same files are one."""


class TaskOptions(TypedDict, total=False):
    """What to transfer, where to, and how. Without url and urls."""

    kind: TaskKind
    """download: the response goes to a file. data: it is kept for task.result. upload: as data, and
    source, body or parts are sent. Default download.
    """

    method: str
    """Any method but CONNECT and TRACE, for downloads one of GET, POST, PUT, PATCH and DELETE.
    Default GET; POST where something is sent, PUT for a plain upload of a file.
    """

    headers: HeaderChanges
    """Header fields to send; those that framing and resuming depend on (Range, Content-Length, …)
    are refused. null leaves out one of the profile's.
    """

    params: Mapping[str, Any]
    """Parameters: of GET, HEAD and DELETE in the query, else as a form, or as the first parts. Keys
    are sorted; members are key[member], elements key[], null is a bare key.
    """

    body: BodyInput
    """What the request sends."""

    parts: Sequence[PartInput]
    """A multipart form in place of body."""

    source: str
    """Of an upload: absolute path of the file; it must not change before it was sent."""

    upload: UploadProtocol
    """What is spoken about the upload's offset: plain (a retry starts over), tus (1.0) or resumable
    (IETF draft); default plain.
    """

    spool: bool
    """Copy the files that are sent first, so that they may change afterwards; default false."""

    chunk_size: int
    """With upload tus: the most bytes of one request, for proxies that bound contents; default
    upload.chunk_size.
    """

    creation_with_upload: bool
    """With upload tus: the request that creates the upload brings the first bytes (up to 1 MiB),
    which saves a request for small files; default false.
    """

    upload_parts: int
    """With upload tus: the number of parts, of 1 MiB at least, that are sent together. A server
    that does not join parts gets one upload; default 1.
    """

    output: str
    """The file's name, or a path: relative to dir, or absolute. Without it the server or the URL
    names the file.
    """

    dir: str
    """Absolute path of the directory to put the file in; default is the daemon's."""

    on_conflict: ConflictPolicy
    """If the name is taken: rename (name (1).ext), overwrite, skip, fail, update (fetch only if
    newer), or verify (fetch unless the file has the checksum); default rename.
    """

    mode: str
    """Permission bits of the file, octal text."""

    remote_time: bool
    """Give the file the server's Last-Modified time; default false."""

    allow_hidden: bool
    """Allow a path with a hidden component directly beneath a home directory, such as ~/.ssh;
    default false. Tokens without the scope operate write to no hidden path.
    """

    checksum: str
    """The digest that the finished bytes must have: ALGORITHM=DIGEST with sha-256, sha-512,
    sha-384, sha-224, blake2b, sha-1 or md5, in hex or base64; hex alone, sha256-BASE64 or a line
    of a checksum file.
    """

    priority: Priority
    """Strict order of starting; default normal."""

    group: str
    """A group of yours to hold back, limit and select tasks by."""

    label: str
    """A text for people and a name to select tasks by."""

    client_key: str
    """Makes the add safe to repeat: the same key with the same request returns the task that
    exists.
    """

    owner: str
    """For whom it is added, with that user's rights: a user's name, or a decimal uid; default is
    the caller. All tasks of a call have the same.
    """

    slot: str
    """A place of yours that one task at a time is in: the task that is in it is cancelled
    (task.superseded).
    """

    finalize: FinalizeMode
    """Of a download: auto publishes the file once it is whole and right, manual keeps it staged
    until task.commit; default auto.
    """

    post_process: str
    """Of a download: the operator's hook that works on the file before it is staged or published.
    """

    on_complete: str
    """The operator's hook that is told once the task has completed."""

    on_error: str
    """The operator's hook that is told once the task has failed."""

    on_end: Sequence[str]
    """The operator's webhooks that get the event of the task's end, beside those that get such
    events anyway.
    """

    coalesce: bool
    """Whether it may share one request with tasks that ask for the same; each gets its own copy.
    Default true.
    """

    paused: bool
    """Add it paused; default false."""

    after: Sequence[TaskReference]
    """Tasks that have to complete before it starts; if one ends otherwise, it fails with
    dependency_failed. Negative numbers count back within the same call: -1 is the task before
    this one.
    """

    not_before: Time
    """It does not start before."""

    window: WindowRecord
    """It runs within these times only; outside them it stops and waits."""

    deadline: Time
    """It fails then with deadline_exceeded unless it has ended or is staged."""

    lease: str
    """It runs, and its file is published, only while the lease of this name is in force: see
    lease.renew.
    """

    max_retries: int
    """Tries after the first; default unlimited within retry_for."""

    retry_for: int
    """Seconds without progress for which it is tried again; pauses and other waits do not count."""

    retry_non_idempotent: bool
    """Whether a POST or PATCH that failed after it was sent is sent again, though the server may
    have acted on it; default false.
    """

    retry_failed: bool
    """Whether it is tried although its URL failed for good a while ago; else it fails at once with
    blocked_url. Default false.
    """

    max_recv_rate: int
    """Bytes per second it may receive; 0, the default, is unlimited."""

    max_send_rate: int
    """Bytes per second it may send; 0, the default, is unlimited."""

    segments: Union[int, Literal["auto"]]
    """Of a download: how many parts of it are fetched at the same time, each over a connection of
    its own, where the server can; auto measures what helps. Default is download.segments.
    """

    range: str
    """Of a download with GET: the part of the source that is fetched. A checksum is the part's. A
    server that sends only the whole fails the task. Not with a cache.
    """

    max_size: int
    """Of a download: its greatest length in bytes. One that is, or becomes, larger fails with
    too_large, and its bytes are deleted. Default is unlimited.
    """

    resume: ResumeMode
    """Whether kept bytes may be continued without a validator (unsafe); default auto: they are not.
    """

    profile: str
    """Whose defaults hold for what is not said here; of the fields that follow, null unsets the
    profile's.
    """

    redirect: Optional[RedirectPolicy]
    """Redirects: follow (default) or deny. With deny the redirect's response is the result if
    accept_status allows its status.
    """

    path_as_is: bool
    """True if . and .. in its URLs' paths are sent unchanged; default false: they are resolved.
    Redirects are resolved in any case.
    """

    max_redirects: Optional[int]
    """Most redirects in a row; default 20."""

    allow_downgrade: Optional[bool]
    """Whether a redirect may lead from https to http; default false."""

    http_version: Optional[HTTPVersion]
    """The protocol to use; default auto."""

    connect_timeout: Optional[float]
    """Seconds for name resolution, TCP and TLS; 0 is none; default 30."""

    idle_timeout: Optional[float]
    """Seconds without a byte that end a try; 0 is none; default 15 for data, 60 for files."""

    total_timeout: Optional[float]
    """Seconds that one try may take; 0, the default, is none."""

    min_recv_rate: Optional[int]
    """Bytes per second that each connection has to receive, measured over min_recv_time; a slower
    one ends the try; 0 is none; default download.min_recv_rate.
    """

    min_recv_time: Optional[float]
    """Seconds over which min_recv_rate is measured; pauses of the service do not count; default
    download.min_recv_time.
    """

    accept_status: Optional[str]
    """Status codes that count as success: ranges and codes between commas; default 200-299."""

    accept_types: Optional[Sequence[str]]
    """Media types or ranges (image/*) that count as success, or the presets json, xml, plist,
    image; default all.
    """

    reject_html: Optional[bool]
    """Whether an answer with a web page (text/html) is a failure; default false."""

    announced_digests: Optional[AnnouncedDigests]
    """Whether digests that the server announces are verified; default verify."""

    parse: Sequence[ResponseParser]
    """Of data and uploads: what task.result makes of the response; the first that succeeds."""

    strip_nulls: bool
    """Leave null members of objects out of what parse made; default false."""

    credential: Optional[CredentialRecord]
    """Who the service claims to be; sent to its origins only."""

    client_cert: Optional[ClientCertificateRecord]
    """Shown to servers of the URL's origin that ask for one; operators only."""

    cookies: Optional[bool]
    """True to send and keep the profile's cookies; default: the profile's. False also ignores those
    that a response sets for the next hop.
    """

    cookie_list: Sequence[CookieRecord]
    """Cookies of its own, sent to the servers they are for, in place of a profile's. What servers
    set holds for the attempt.
    """

    proxy: Optional[Union[str, ProxyRecordForm]]
    """The proxy to go through."""

    cache_policy: Optional[CachePolicy]
    """Whether a kept response is used: protocol (RFC 9111), prefer_cache and only_if_cached
    (however stale), revalidate (told of at once, the server is always asked), reload and
    reload_all (never); default reload.
    """

    store: Optional[bool]
    """Whether the response is kept; default is what cache_policy implies."""

    cache_key: Optional[CacheKey]
    """What stands for the URL in the cache: a text, or what of it does not count."""

    allow_metered: Optional[bool]
    """Whether it may go over links that cost money (network.metered_interfaces); if not, it waits
    for another. Default true.
    """

    ip_version: Optional[IPVersion]
    """Which addresses to connect to; default any."""

    interface: Optional[str]
    """The network interface or local address to connect from."""

    ca_file: str
    """Absolute path of a PEM file: the certificate authorities that are trusted in place of the
    daemon's; the trust policies hold all the same. Operators, and the file's owner.
    """

    resolve: Optional[Sequence[str]]
    """Addresses to use in place of what the resolver says: HOST:PORT:ADDRESS[,ADDRESS]; * is any
    host.
    """

    connect_to: Optional[Sequence[str]]
    """What to connect to in place of a host and port, HOST:PORT:TARGET:TARGETPORT, each of which
    may be empty; the URL's name stays the one that TLS and pins are about.
    """

    unix_socket: str
    """Absolute path of the Unix socket through which the URL's host is reached, without a proxy.
    Other hosts, to which redirects lead, are reached as usual.
    """

    progress_interval: float
    """Least seconds between two task.progress; default 0.5."""

    policy: str
    """A trust policy that has to accept, besides the host's own, every server it matches; it has to
    match the URL's.
    """

    meta: Any
    """Any JSON of the client's own, given back unchanged."""


class NewTask(TaskOptions, total=False):
    """What to transfer, where to, and how."""

    url: str
    """What to ask for: an absolute http or https URL, or one relative to the profile's base_url."""

    urls: Sequence[str]
    """With GET, of a download or data task, in place of url: mirrors of the same bytes, in order of
    preference. What is bound to an origin (credential, client_cert, secret header fields) is the
    first one's.
    """


@dataclass(frozen=True)
class TaskAddOne:
    """The task that was added, or was there already."""

    task: TaskRecord
    """The task."""

    existing: Optional[bool] = None
    """True when client_key found a task with the same request."""

    seq: Optional[int] = None
    """The events of what was added come after this number: events.subscribe with this since misses
    none.
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
    """A task: what was asked for and what became of it."""

    id: TaskID
    """Names the task; never reused."""

    owner: Optional[Owner] = None
    """The uid of the process that added it."""

    state: Optional[TaskState] = None
    """Where it stands."""

    phase: Optional[TaskPhase] = None
    """What a running task is doing."""

    wait: Optional[WaitRecord] = None
    """Why a waiting or queued task cannot start now."""

    error: Optional[FailureRecord] = None
    """Why it failed; of a task waiting for a retry: why its last try failed."""

    progress: Optional[ProgressRecord] = None
    """How far it is."""

    resumable: Optional[bool] = None
    """Whether what is held can be continued after a break, as far as is known."""

    transfer: Optional[TransferID] = None
    """What fetches its bytes, once it has started; tasks with the same one share a request.
    task.get gives it, listings only when asked.
    """

    ranges: Optional[List[SegmentRecord]] = None
    """Of a download in segments what is kept of each, ascending; what lies between them is missing.
    Only when asked for by task.get.
    """

    staged_file: Optional[StagedFileRecord] = None
    """Of a staged task the file that waits for its name. Only when asked for by task.get."""

    discarded: Optional[DiscardRecord] = None
    """The last time that received bytes of this download were discarded, as long as the event is
    kept. task.get gives it, listings only when asked.
    """

    url: Optional[str] = None
    """What is fetched, the first of urls; secrets in it are ***."""

    urls: Optional[List[str]] = None
    """Mirrors of the same bytes in order of preference, if there are any; final_url tells which one
    was asked last.
    """

    kind: Optional[TaskKind] = None
    """What is done with the bytes."""

    method: Optional[str] = None
    """The request's method."""

    headers: Optional[HeaderList] = None
    """Header fields the client and the profile set; secrets in them are ***."""

    body: Optional[BodyRecord] = None
    """What is sent."""

    source: Optional[str] = None
    """The file that is uploaded."""

    upload: Optional[UploadProtocol] = None
    """What is spoken about an upload's offset."""

    spool: Optional[bool] = None
    """Whether the files that are sent are copied first."""

    chunk_size: Optional[int] = None
    """The most bytes of one request of an upload; absent is upload.chunk_size."""

    creation_with_upload: Optional[bool] = None
    """True when the request that creates an upload brings its first bytes."""

    upload_parts: Optional[int] = None
    """The parts in which an upload is sent at the same time; absent is one."""

    output: Optional[str] = None
    """The file's name that was asked for."""

    dir: Optional[str] = None
    """Absolute path of the directory the file goes to."""

    on_conflict: Optional[ConflictPolicy] = None
    """What happens if the name is taken."""

    mode: Optional[str] = None
    """Permission bits of the file, octal text."""

    remote_time: Optional[bool] = None
    """Whether the file takes the server's Last-Modified time."""

    allow_hidden: Optional[bool] = None
    """True if the path may have a hidden component directly beneath a home directory."""

    checksum: Optional[str] = None
    """The digest that the bytes must have."""

    priority: Optional[Priority] = None
    """Strict order of starting."""

    group: Optional[str] = None
    """The owner's group it is in."""

    batch: Optional[BatchID] = None
    """The batch it was added with."""

    label: Optional[str] = None
    """A text for people."""

    client_key: Optional[str] = None
    """What makes adding it safe to repeat."""

    slot: Optional[str] = None
    """The slot it was added to; it is in it until it ends."""

    finalize: Optional[FinalizeMode] = None
    """Who gives the file its name: manual waits for task.commit."""

    post_process: Optional[str] = None
    """The hook that works on the file before it is staged or published."""

    on_complete: Optional[str] = None
    """The hook that is told once it has completed."""

    on_error: Optional[str] = None
    """The hook that is told once it has failed."""

    on_end: Optional[List[str]] = None
    """The webhooks that get the event of its end, beside those that get such events anyway."""

    coalesce: Optional[bool] = None
    """False when it shares its request with no other task."""

    after: Optional[List[TaskID]] = None
    """Tasks that have to complete before it starts."""

    not_before: Optional[datetime] = None
    """It does not start before."""

    window: Optional[WindowRecord] = None
    """It runs within these times only."""

    deadline: Optional[datetime] = None
    """It fails then unless it has ended or is staged."""

    lease: Optional[str] = None
    """The lease that has to be in force while it runs."""

    max_retries: Optional[int] = None
    """Tries after the first; absent is unlimited within retry_for."""

    retry_for: Optional[int] = None
    """Seconds without progress for which it is tried again; pauses and other waits do not count."""

    retry_non_idempotent: Optional[bool] = None
    """Whether a request that is not idempotent is sent again after a failure."""

    max_recv_rate: Optional[int] = None
    """Bytes per second it may receive; 0 is unlimited."""

    max_send_rate: Optional[int] = None
    """Bytes per second it may send; 0 is unlimited."""

    segments: Optional[Union[int, Literal["auto"]]] = None
    """How many parts are fetched at the same time; absent is the service's default."""

    range: Optional[str] = None
    """The part of the source that is fetched; absent is all of it."""

    max_size: Optional[int] = None
    """The greatest length in bytes; absent is unlimited."""

    resume: Optional[ResumeMode] = None
    """Whether kept bytes may be continued without a validator."""

    profile: Optional[str] = None
    """Whose defaults it took over."""

    redirect: Optional[RedirectPolicy] = None
    """Whether redirects are followed."""

    path_as_is: Optional[bool] = None
    """True when . and .. in the paths of its URLs are sent as they are."""

    max_redirects: Optional[int] = None
    """Most redirects in a row; absent is 20."""

    allow_downgrade: Optional[bool] = None
    """Whether a redirect may lead from https to http."""

    http_version: Optional[HTTPVersion] = None
    """The protocol to use."""

    connect_timeout: Optional[float] = None
    """Seconds for name resolution, TCP and TLS; 0 is none."""

    idle_timeout: Optional[float] = None
    """Seconds without a byte that end a try; 0 is none."""

    total_timeout: Optional[float] = None
    """Seconds that one try may take; 0 is none."""

    min_recv_rate: Optional[int] = None
    """Bytes per second that each connection has to receive; absent is download.min_recv_rate."""

    min_recv_time: Optional[float] = None
    """Seconds over which min_recv_rate is measured; absent is download.min_recv_time."""

    accept_status: Optional[str] = None
    """Status codes that count as success."""

    accept_types: Optional[List[str]] = None
    """Media types and ranges that count as success; absent accepts all."""

    reject_html: Optional[bool] = None
    """True when an answer with a web page is a failure."""

    announced_digests: Optional[AnnouncedDigests] = None
    """Whether digests that the server announces are verified; absent is verify."""

    parse: Optional[List[ResponseParser]] = None
    """What task.result makes of the response."""

    strip_nulls: Optional[bool] = None
    """Whether null members are left out of that."""

    credential: Optional[CredentialRecord] = None
    """Set when there is one; its values are ***."""

    client_cert: Optional[ClientCertificateRecord] = None
    """The task's own client certificate."""

    cookies: Optional[bool] = None
    """True if the profile's cookies are used. False: none but its own."""

    cookie_list: Optional[List[CookieRecord]] = None
    """Its own cookies; values are ***."""

    proxy: Optional[Union[str, ProxyRecordForm]] = None
    """The proxy it goes through; secrets are ***."""

    cache_policy: Optional[CachePolicy] = None
    """Whether a kept response is used; absent is reload."""

    store: Optional[bool] = None
    """True when the response is kept."""

    cache_key: Optional[CacheKey] = None
    """What stands for the URL in the cache."""

    allow_metered: Optional[bool] = None
    """Whether it may go over links that cost money."""

    ip_version: Optional[IPVersion] = None
    """Which addresses it connects to; absent is any."""

    interface: Optional[str] = None
    """The network interface or local address it connects from."""

    ca_file: Optional[str] = None
    """The PEM file of the certificate authorities that are trusted in place of the daemon's."""

    resolve: Optional[List[str]] = None
    """Addresses it uses in place of what the resolver says."""

    connect_to: Optional[List[str]] = None
    """What it connects to in place of hosts and ports."""

    unix_socket: Optional[str] = None
    """The Unix socket through which the URL's host is reached."""

    progress_interval: Optional[float] = None
    """Least seconds between two task.progress."""

    policy: Optional[str] = None
    """A trust policy that has to accept besides the host's own."""

    meta: Any = None
    """The client's own JSON."""

    final_url: Optional[str] = None
    """Where the bytes came from after redirects; secrets in it are ***."""

    final_path: Optional[str] = None
    """Absolute path of the published file."""

    http_status: Optional[int] = None
    """The last final response's status."""

    response_headers: Optional[HeaderList] = None
    """The last final response's header fields; only when asked for by task.get."""

    etag: Optional[str] = None
    """The source's entity tag."""

    content_encoding: Optional[str] = None
    """The coding the bytes were kept in, if not identity."""

    last_attempt: Optional[AttemptRecord] = None
    """How its last attempt went: address, protocol, times. task.get gives it, listings only when
    asked.
    """

    attempts: Optional[int] = None
    """Tries so far that count against max_retries."""

    skipped: Optional[bool] = None
    """True when on_conflict skip, or verify, found the name taken."""

    not_modified: Optional[bool] = None
    """True when on_conflict update found the file current."""

    warning: Optional[str] = None
    """What is odd about a completed download, in English: a web page came under a name that no page
    has.
    """

    created_at: Optional[datetime] = None
    """When it was added."""

    started_at: Optional[datetime] = None
    """When its first try began."""

    finished_at: Optional[datetime] = None
    """When its last run ended."""

    abridged: Optional[bool] = None
    """True in a list if the task is longer than 3 MiB: only short fields are given; task.get with
    fields gives others.
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
    """Why a waiting task cannot start now; of a queued one, that its host is not asked for a while;
    of a queued or running one, that the database cannot be written.
    """

    reason: WaitReason
    """What it waits for."""

    until: Optional[datetime] = None
    """When it goes on by itself, if that is known."""

    detail: Optional[str] = None
    """In a fleet: why every node that could take it has declined it, in English."""

    url: Optional[str] = None
    """Of host_cooldown, the URL whose answer set it, with its secrets masked; absent if it is
    another user's.
    """

    limit: Optional[int] = None
    """Transfers that the host may have at once now; with host_full."""

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
    """Why a task failed, or why its last try did."""

    reason: FailureReason
    """One of a closed list."""

    message: str
    """A sentence a person can act on; holds no secrets."""

    is_retriable: bool
    """Whether another try may succeed."""

    http_status: Optional[int] = None
    """The status that was answered."""

    curl_code: Optional[int] = None
    """libcurl's code, see libcurl-errors(3)."""

    host: Optional[str] = None
    """The host that was talked to."""

    attempts: Optional[int] = None
    """Tries so far that count against max_retries."""

    cause: Optional[FailureCause] = None
    """What exactly is wrong, where the reason has several causes. One of a closed list."""

    proxy: Optional[str] = None
    """The proxy that failed, refused, or may have given the answer."""

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
            proxy=wire.get("proxy"),
        )


@dataclass(frozen=True)
class ProgressRecord:
    """How far a task is."""

    received: int
    """Bytes held so far, those kept from earlier tries included."""

    sent: int
    """Bytes sent."""

    total: Optional[int]
    """Complete length in bytes; null while unknown."""

    rate: int
    """Bytes per second over the last seconds."""

    eta: Optional[int]
    """Seconds until the end at that rate; null while unknown."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ProgressRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            received=wire["received"],
            sent=wire["sent"],
            total=wire["total"],
            rate=wire["rate"],
            eta=wire["eta"],
        )


@dataclass(frozen=True)
class SegmentRecord:
    """A range of a download's bytes and how far it is durable."""

    start: int
    """Its first byte's offset."""

    end: Optional[int]
    """The first offset after it; null is the end of the whole."""

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
    """The whole, verified file of a staged task."""

    path: str
    """Absolute path of the file as it is now."""

    name: str
    """The name it gets, unless on_conflict chooses another one."""

    inode: str
    """Its inode number, in decimal digits."""

    size: int
    """Its length in bytes."""

    modified_at: str
    """When it was written last, in nanoseconds since 1970, in decimal digits."""

    checksum: Optional[str] = None
    """Its digest, if one was computed."""

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
    """When and why received bytes of a download were discarded."""

    at: datetime
    """When."""

    bytes: int
    """How many bytes."""

    reason: str
    """Why they could not be used."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> DiscardRecord:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            at=parse_time(wire["at"]),
            bytes=wire["bytes"],
            reason=wire["reason"],
        )


@dataclass(frozen=True)
class BodyRecord:
    """What is sent, without the bytes themselves."""

    form: BodySummaryForm
    """Whether it is kept with the task, a file, or a form's parts."""

    length: Optional[int] = None
    """Bytes; absent for parts."""

    file: Optional[str] = None
    """The file it is read from."""

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
    """How the last request of an attempt went."""

    began_at: datetime
    """When the attempt began."""

    address: Optional[str] = None
    """Address of the connection: the server's, or the proxy's."""

    port: Optional[int] = None
    """Port of the connection."""

    protocol: Optional[str] = None
    """Protocol of the response, for example HTTP/2."""

    reused: Optional[bool] = None
    """True if the connection had been made for an earlier request."""

    name_lookup: Optional[float] = None
    """When the name was resolved, in seconds from the request's beginning."""

    connect: Optional[float] = None
    """When the connection was made, likewise."""

    tls: Optional[float] = None
    """When the TLS handshake was done, likewise."""

    first_byte: Optional[float] = None
    """When the first byte of the response came, likewise."""

    total: Optional[float] = None
    """When the request ended, likewise; of a running one, when its response began."""

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
    """The tasks that were added, or were there already."""

    ids: List[TaskID]
    """Their ids, in the order of tasks."""

    existing: List[int]
    """Indices of those that a client_key found."""

    seq: Optional[int] = None
    """The events of what was added come after this number: events.subscribe with this since misses
    none.
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
    """Which tasks are meant: fields are ANDed, the values of one field ORed; {"all": true} is all.
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
    """Slots they were added to."""

    owner: Union[Owner, Sequence[Owner]]
    """Owners' uids; only operators see others' tasks."""

    host: Union[str, Sequence[str]]
    """Hosts of the URLs; with :port where it is not the scheme's."""

    ids: Union[TaskID, Sequence[TaskID]]
    """Ids."""

    client_key: Union[str, Sequence[str]]
    """Client keys they were added with."""

    reason: Union[FailureReason, Sequence[FailureReason]]
    """Reasons of their last failures, as error.reason."""

    url_prefix: str
    """The beginning of their URLs without a query, whose secrets cannot be searched."""

    created_from: Time
    """Added at this time or later."""

    created_before: Time
    """Added before this time."""

    finished_from: Time
    """Last run ended at this time or later."""

    finished_before: Time
    """Last run ended before this time."""

    all: bool
    """True: everything the caller may touch; then no other field."""


@dataclass(frozen=True)
class TaskListResult:
    """One page of tasks."""

    tasks: List[TaskRecord]
    """The tasks."""

    next_cursor: Optional[str]
    """Where the next page begins; null after the last."""

    unreadable: Optional[List[TaskID]] = None
    """Tasks of this page that are left out because their rows are damaged; xferd --recover mends
    the database.
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
class TaskWaitResult:
    """The tasks as they are now."""

    tasks: List[TaskRecord]
    """The tasks, in the order of ids; as many as 1 MiB takes."""

    timed_out: bool
    """Whether the timeout ended the waiting."""

    open: Optional[List[TaskID]] = None
    """Tasks that have not ended, after a timeout or with any; 10,000 at most."""

    open_count: Optional[int] = None
    """The number of tasks that have not ended, if open has not all of them."""

    missing: Optional[List[TaskID]] = None
    """Ids that do not exist or belong to others."""

    omitted: Optional[List[TaskID]] = None
    """Tasks that the answer has no room for, 10,000 at most: task.list with filter.ids gives them.
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
    """What became of the tasks that were named."""

    changed: List[TaskID]
    """Tasks that changed."""

    unchanged: List[SelectionResultUnchanged]
    """Tasks whose state left nothing to do, or did not allow it."""

    missing: List[TaskID]
    """Ids that do not exist or belong to others."""

    files: Optional[SelectionResultRemovedFiles] = None
    """Of task.remove with files: what became of them."""

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
    """A task that stayed as it was."""

    id: TaskID
    """The task."""

    state: TaskState
    """The state it is in."""

    reason: Optional[str] = None
    """Why the state did not allow it, where that is not plain: not_resumable, a running request
    that must not be made twice cannot be paused; file_kept, its file could not be deleted (see
    files); source_deleted, the copy of what a cancelled task would send again is gone.
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
    """What became of the files of tasks that were removed with them."""

    deleted: int
    """Files that were deleted, or had been before."""

    kept: List[SelectionResultKeptFile]
    """Files that were not, at most 1,000 of them."""

    kept_count: int
    """How many were not."""

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
    """Where the file is."""

    reason: str
    """Why it was not deleted."""

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
    """How many of the tasks that matched changed."""

    changed_count: int
    """Tasks that changed."""

    unchanged_count: int
    """Tasks that did not."""

    refused_count: Optional[int] = None
    """Staged tasks that task.commit could not publish now."""

    refused: Optional[List[SelectionResultRefusal]] = None
    """The first 100 of them, with the reasons."""

    files: Optional[SelectionResultRemovedFiles] = None
    """Of task.remove with files: what became of them."""

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
    """The data.reason of the error that task.commit of this task alone answers."""

    message: str
    """The refusal in English."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SelectionResultRefusal:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            id=wire["id"],
            reason=wire["reason"],
            message=wire["message"],
        )


class TaskChanges(TypedDict, total=False):
    """Fields to change; null unsets where a field can be unset."""

    priority: Priority
    """Strict order of starting."""

    group: Optional[str]
    """A name to select tasks by."""

    label: Optional[str]
    """A text for people."""

    meta: Any
    """Any JSON of the client's own."""

    max_retries: Optional[int]
    """Tries after the first; null is unlimited."""

    retry_for: int
    """Seconds without progress for which it is tried again; pauses and other waits do not count."""

    retry_non_idempotent: bool
    """Whether a request that is not idempotent is sent again after a failure."""

    max_recv_rate: int
    """Bytes per second it may receive; 0 is unlimited."""

    max_send_rate: int
    """Bytes per second it may send; 0 is unlimited."""

    allow_metered: bool
    """Whether it may go over links that cost money; if not, it stops on one and waits for another.
    """

    progress_interval: float
    """Least seconds between two task.progress."""

    not_before: Optional[Time]
    """It does not start before; null is at any time."""

    window: Optional[WindowRecord]
    """It runs within these times only; null is at any time."""

    deadline: Optional[Time]
    """It fails then unless it has ended or is staged; null is never."""

    lease: Optional[str]
    """The lease that has to be in force while it runs; null is none."""

    dir: str
    """Absolute path of the directory; only while not running."""

    output: Optional[str]
    """The file's name or path; null leaves it to the server; only while not running."""

    on_conflict: ConflictPolicy
    """If the name is taken; only while not running."""

    allow_hidden: bool
    """Allow a path with a hidden component directly beneath a home directory; only while not
    running.
    """

    checksum: Optional[str]
    """The digest the bytes must have; null is none; only while not running."""

    segments: Optional[Union[int, Literal["auto"]]]
    """How many parts of a download are fetched at the same time; null is download.segments; only
    while not running.
    """

    max_size: Optional[int]
    """The greatest length of a download in bytes; null is unlimited; only while not running."""

    headers: HeaderList
    """All header fields to send; only while not running."""

    credential: Optional[CredentialRecord]
    """Who the service claims to be; null is none; only while not running."""

    client_cert: Optional[ClientCertificateRecord]
    """Shown to servers of the URL's origin that ask for one; null is none; only while not running.
    """

    cookie_list: Optional[Sequence[CookieRecord]]
    """Cookies of its own; null is none; only while not running."""

    proxy: Optional[Union[str, ProxyRecordForm]]
    """The proxy to go through; null is none; only while not running."""

    connect_timeout: float
    """Seconds; 0 is none; only while not running."""

    idle_timeout: float
    """Seconds; 0 is none; only while not running."""

    total_timeout: float
    """Seconds; 0 is none; only while not running."""

    min_recv_rate: Optional[int]
    """Bytes per second that each connection has to receive; null is download.min_recv_rate; only
    while not running.
    """

    min_recv_time: Optional[float]
    """Seconds over which min_recv_rate is measured; null is download.min_recv_time; only while not
    running.
    """

    reject_html: bool
    """Whether an answer with a web page is a failure; only while not running."""

    announced_digests: AnnouncedDigests
    """Whether digests that the server announces are verified (ignore: a wrong one is no failure);
    only while not running.
    """

    ip_version: IPVersion
    """Which addresses to connect to; only while not running."""

    interface: Optional[str]
    """The network interface or local address to connect from; null is none; only while not running.
    """

    ca_file: Optional[str]
    """A PEM file of the authorities that are trusted; null is the daemon's; only while not running.
    """

    resolve: Sequence[str]
    """Addresses to use in place of what the resolver says; only while not running."""

    connect_to: Sequence[str]
    """What to connect to in place of a host and port; only while not running."""

    unix_socket: Optional[str]
    """The Unix socket through which the URL's host is reached; null is none; only while not
    running.
    """

    policy: Optional[str]
    """A trust policy besides the host's own; null is none; only while not running."""

    after: Optional[Sequence[TaskID]]
    """Tasks that have to complete before it starts; null is none; only while not running."""


@dataclass(frozen=True)
class TaskReadResult:
    """A stretch of a task's bytes."""

    data: str
    """The bytes."""

    encoding: TaskResultEncoding
    """How they are written: as they are, or in base64 where they are not text."""

    offset: int
    """Offset of the first."""

    eof: bool
    """Whether nothing follows, now or later."""

    length: int
    """Bytes that can be read now."""

    state: TaskState
    """The state the task is in."""

    version: Optional[str] = None
    """Tells these bytes from those of another version of the source, or of another attempt."""

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
    """A stretch of a response."""

    data: str
    """The bytes."""

    encoding: TaskResultEncoding
    """How they are written: as they are, or in base64 where they are not text."""

    offset: int
    """Offset of the first."""

    eof: bool
    """Whether nothing follows."""

    length: int
    """Bytes of the whole response."""

    object: Any = None
    """What `parse` made of the whole response; only with offset 0. null is an object."""

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
class QueueStatsResult:
    """The queue as it is now."""

    counts: StateCounts
    """Tasks by state."""

    rates: QueueStatsRates
    """Bytes per second over all running tasks."""

    paused: bool
    """Whether the queue holds back starts."""

    limits: QueueLimits
    """The limits that hold now."""

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
class StateCounts:
    """How many tasks are in each state."""

    queued: int
    """May start when the scheduler picks them."""

    waiting: int
    """Cannot start now."""

    running: int
    """Being transferred, verified or published."""

    paused: int
    """Held back by the user."""

    staged: int
    """Whole, and waiting for a commit."""

    completed: int
    """Done."""

    failed: int
    """Failed for good."""

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
    """The limits that hold for the queue now."""

    max_active: int
    """Most transfers at once; while it is automatic, small ones."""

    max_active_per_host: int
    """Most transfers at once from one host; while it is automatic, connections over HTTP/1.1."""

    order: QueueOrder
    """Which of a host's tasks start first."""

    max_recv_rate: int
    """Bytes per second received over all transfers; 0 is unlimited."""

    max_send_rate: int
    """Bytes per second sent over all transfers; 0 is unlimited."""

    automatic: Optional[List[str]] = None
    """The limits among max_active and max_active_per_host that are not set, so that xferd finds
    them.
    """

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
        )


@dataclass(frozen=True)
class QueuePauseResult:
    """Whether the queue holds back starts."""

    paused: bool
    """Whether the queue holds back starts."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> QueuePauseResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            paused=wire["paused"],
        )


@dataclass(frozen=True)
class QueueSetLimitsResult:
    """The limits that hold now."""

    limits: QueueLimits
    """The limits that hold now."""

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
    """A host: how many transfers it may have at once, and why not more."""

    host: str
    """Its name; with :port where it is not the scheme's."""

    window: int
    """Most transfers that may be under way at once now."""

    active: int
    """Transfers that are under way."""

    connections: Optional[int] = None
    """Connections in use, as far as is known."""

    protocol: Optional[HostProtocol] = None
    """The protocol of its last answer."""

    latency_ms: Optional[int] = None
    """Milliseconds from a request to the first byte of its answer, smoothed."""

    recv_rate: Optional[int] = None
    """Bytes per second, measured over the last round trip."""

    refusals: Optional[int] = None
    """Requests that it has refused or broken off beside others."""

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
    """The batch that was added, or was there already."""

    batch: BatchRecord
    """The batch."""

    ids: List[TaskID]
    """Its members in the order of the entries that became one; of an existing batch those still
    there.
    """

    errors: List[BatchRefusal]
    """The entries that did not become members."""

    existing: Optional[bool] = None
    """True when client_key found a batch with the same parameters."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> BatchAddResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            batch=BatchRecord.from_wire(wire["batch"]),
            ids=wire["ids"],
            errors=listed(BatchRefusal.from_wire)(wire["errors"]),
            existing=wire.get("existing"),
        )


@dataclass(frozen=True)
class BatchRecord:
    """A batch: tasks that were added together and are counted together."""

    id: BatchID
    """Names the batch."""

    owner: Owner
    """The uid of the process that added it."""

    group: str
    """The group its members are in, for group.* and filters."""

    total: int
    """Members it was added with."""

    finished: int
    """Members that have ended, however: completed, failed, cancelled, superseded; removed ones
    count on.
    """

    skipped: int
    """How many of those failed."""

    counts: StateCounts
    """Members by state, without those that were removed."""

    created_at: datetime
    """When it was added."""

    completed_at: Optional[datetime]
    """When the last member ended for the first time; null before."""

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
        )


@dataclass(frozen=True)
class BatchRefusal:
    """An entry that did not become a member, and why."""

    index: int
    """Its place in tasks, from 0."""

    code: int
    """The code task.add would have answered with."""

    message: str
    """One sentence for people; names the field at fault."""

    data: Optional[ErrorData] = None
    """What is behind it."""

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
    """What is behind an error answer."""

    reason: str
    """A lower-case word that programs can tell apart."""

    path: Optional[str] = None
    """The field at fault, from the root of params."""

    expected: Optional[str] = None
    """What would have been right."""

    limit: Optional[int] = None
    """The limit that was reached."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    state: Optional[TaskState] = None
    """The state that task is in."""

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
    """The batch as it is now."""

    batch: BatchRecord
    """The batch as it is now."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> BatchGetResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            batch=BatchRecord.from_wire(wire["batch"]),
        )


@dataclass(frozen=True)
class GroupListResult:
    """One page of the groups."""

    groups: List[GroupRecord]
    """The groups."""

    next_cursor: Optional[str]
    """Where the next page begins; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> GroupListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            groups=listed(GroupRecord.from_wire)(wire["groups"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class GroupRecord:
    """A group: tasks that are held back, limited and counted together."""

    name: str
    """The group's name; every owner has groups of its own."""

    owner: Owner
    """The uid whose tasks they are."""

    paused: bool
    """Whether its starts are held back."""

    max_active: Optional[int]
    """Most of its transfers at once; null is as many as the queue lets."""

    counts: StateCounts
    """Its tasks by state."""

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
    """The group as it is now."""

    group: GroupRecord
    """The group as it is now."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> GroupGetResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            group=GroupRecord.from_wire(wire["group"]),
        )


@dataclass(frozen=True)
class GroupRemoveResult:
    """Whether there was such a group."""

    removed: bool
    """Whether there was such a group."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> GroupRemoveResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            removed=wire["removed"],
        )


@dataclass(frozen=True)
class SlotGetResult:
    """The task it is about."""

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
    """What is kept, and the limits."""

    entries: int
    """Responses that are kept."""

    size: int
    """Bytes of their contents."""

    max_bytes: int
    """Bytes of all contents; over it the least recently used go."""

    max_age: int
    """Seconds since its last use for which a response is kept."""

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
    """Where the next page begins; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CacheListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            entries=listed(CacheEntryRecord.from_wire)(wire["entries"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class CacheEntryRecord:
    """A response that the cache keeps."""

    id: CacheEntryID
    """Names the entry."""

    owner: Owner
    """The uid it was fetched for, and is used for."""

    url: str
    """What was asked for; secrets in it are ***."""

    http_status: int
    """The response's status."""

    size: int
    """Bytes of its content."""

    received_at: datetime
    """When it, or the last word that it is right, came."""

    stored_at: datetime
    """When it was kept or renewed."""

    last_used_at: datetime
    """When it was used last."""

    final_url: Optional[str] = None
    """Where it came from, if redirects led elsewhere."""

    etag: Optional[str] = None
    """Its entity tag."""

    content_encoding: Optional[str] = None
    """The coding of its content, if not identity."""

    fresh_until: Optional[datetime] = None
    """Until when it is used without asking; absent when it is stale."""

    varies: Optional[List[str]] = None
    """Request fields that have to be the same as they were."""

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
    """What was there, and what was not."""

    removed: List[CacheEntryID]
    """Those that were there."""

    missing: List[CacheEntryID]
    """Ids that were not there, or are another user's."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CacheRemoveResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            removed=wire["removed"],
            missing=wire["missing"],
        )


@dataclass(frozen=True)
class CacheClearResult:
    """How much went."""

    removed_count: int
    """Responses that were forgotten."""

    removed_size: int
    """Bytes of their contents."""

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
    """Where the next page begins; null after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FailedURLListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            entries=listed(FailedURLRecord.from_wire)(wire["entries"]),
            next_cursor=wire["next_cursor"],
        )


@dataclass(frozen=True)
class FailedURLRecord:
    """A URL that failed for good and is not asked for again for a while."""

    id: FailedURLID
    """Names the entry."""

    url: str
    """The URL; secrets in it are ***."""

    method: str
    """The request's method."""

    owner: Owner
    """The uid whose task failed."""

    task_id: TaskID
    """The task that failed; it may be forgotten since."""

    error: FailureRecord
    """What it failed with."""

    failed_at: datetime
    """When it failed."""

    expires_at: datetime
    """When it may be asked for again, unless it is removed or succeeds before."""

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
    """What was there, and what was not."""

    removed: List[FailedURLID]
    """Those that were there."""

    missing: List[FailedURLID]
    """Ids that were not there, or are another user's."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FailedURLRemoveResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            removed=wire["removed"],
            missing=wire["missing"],
        )


@dataclass(frozen=True)
class FailedURLClearResult:
    """How many there were."""

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

    next_cursor: Optional[str] = None
    """The beginning of the next page; left out after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> PolicyListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            policies=listed(PolicyRecord.from_wire)(wire["policies"]),
            next_cursor=wire.get("next_cursor"),
        )


@dataclass(frozen=True)
class PolicyRecord:
    """How the certificates of some hosts' servers are judged."""

    name: str
    """The policy's name."""

    version: int
    """Another one after every change, never reused; 0 for the built-in default."""

    origin: PolicyOrigin
    """Who wrote it; those of the configuration are changed there."""

    mode: TrustPolicyMode
    """What a server has to show."""

    pins: List[PinRecord]
    """One that matches suffices."""

    hosts: List[str]
    """Host patterns; none for the default policy."""

    allow_invalid_certificates: bool
    """Whether chains are accepted that do not lead to an authority of the system."""

    validates_domain_name: bool
    """Whether the leaf has to name the host."""

    report_only: bool
    """Whether it only tells what it would have refused."""

    min_tls: TLSVersion
    """Lowest TLS version of a connection."""

    expires_at: Optional[datetime] = None
    """After this the policy is the ordinary check."""

    client_certificate: Optional[ClientCertificateRecord] = None
    """Shown to servers that ask for one."""

    require_stapled_ocsp: Optional[bool] = None
    """Whether a server has to staple an OCSP response by which its certificate is not revoked;
    default false.
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
    """What a server's chain is compared with."""

    pin: str
    """As policy.set takes it: sha256/BASE64, or a certificate in PEM."""

    key: str
    """The pin of its key: sha256/BASE64."""

    not_after: Optional[datetime] = None
    """When a pinned certificate expires."""

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
    """Lower-case letters, digits, -, _ and .; default is the one for hosts without another."""


class PolicyInput(PolicyInputRequired, total=False):
    """How the certificates of some hosts' servers are judged."""

    mode: TrustPolicyMode
    """What a server has to show: none (the ordinary check), public_key or certificate."""

    pins: Sequence[str]
    """Each sha256/BASE64 of a key (RFC 7469) or PEM text of certificates; one that matches
    suffices.
    """

    hosts: Sequence[str]
    """example.org, *.example.org (one label more) or .example.org (any depth), each with an
    optional :port.
    """

    allow_invalid_certificates: bool
    """Accept chains that do not lead to an authority of the system."""

    validates_domain_name: bool
    """The leaf has to name the host."""

    report_only: bool
    """Report with policy.violation what would be refused; decide as if this policy did not exist.
    """

    expires_at: Time
    """After this the policy is the ordinary check, and says so."""

    min_tls: TLSVersion
    """Lowest TLS version of a connection."""

    client_certificate: ClientCertificateRecord
    """Shown to servers that ask for one."""

    require_stapled_ocsp: bool
    """Refuse a server that does not staple an OCSP response by which its certificate is not
    revoked.
    """


@dataclass(frozen=True)
class Done:
    """Done."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Done:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls()


@dataclass(frozen=True)
class ServerReportRecord:
    """What a server showed in one TLS handshake, and what the policies say to it."""

    host: str
    """The host that was asked."""

    port: int
    """The port that was asked."""

    verdict: ServerReportRecordServerVerdict
    """What a task would meet."""

    chain: List[ServerCertificateRecord]
    """The certificates, leaf first, as the server sent them."""

    stages: List[StageRecord]
    """Each thing that is looked at by itself."""

    policies: List[PolicyVerdictRecord]
    """Each policy by itself; all have to accept."""

    error: Optional[str] = None
    """Why the server could not be judged."""

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
    """Whom it is for."""

    issuer: str
    """Who signed it."""

    names: List[str]
    """The host names and addresses in it."""

    not_before: datetime
    """When its validity begins."""

    not_after: datetime
    """When its validity ends."""

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
    """One thing that is looked at, policies aside."""

    stage: TrustStage
    """What is looked at."""

    passed: bool
    """Whether it is as an ordinary check, or the pins, would have it."""

    detail: str
    """What was found."""

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
    """What one policy says by itself."""

    name: str
    """The policy's name."""

    version: int
    """Its version."""

    accepted: bool
    """Whether it accepts."""

    report_only: bool
    """Whether something is wrong that it only reports."""

    expired: bool
    """Whether it has expired and is the ordinary check."""

    reason: Optional[FailureReason] = None
    """pin_mismatch or revocation_unknown when nothing else is wrong, else trust_rejected."""

    problem: Optional[str] = None
    """What is wrong."""

    verify_error: Optional[int] = None
    """OpenSSL's X509_V_ERR code, where a chain is at fault."""

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

    next_cursor: Optional[str] = None
    """The beginning of the next page; left out after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ProfileListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            profiles=listed(ProfileRecord.from_wire)(wire["profiles"]),
            next_cursor=wire.get("next_cursor"),
        )


@dataclass(frozen=True)
class ProfileRecord:
    """Defaults for the requests of the tasks that name it; secrets are ***."""

    name: str
    """The profile's name."""

    origin: ProfileOrigin
    """Who wrote it; those of the configuration are changed there."""

    base_url: Optional[str] = None
    """Relative URLs of tasks are resolved against it."""

    headers: Optional[HeaderList] = None
    """Header fields of requests that have none of the same name."""

    header_rules: Optional[List[HeaderRuleInput]] = None
    """Changes to the header fields by host."""

    languages: Optional[List[str]] = None
    """Language tags, for Accept-Language."""

    cookies: Optional[CookieKeeping] = None
    """jar where cookies are kept."""

    credential: Optional[CredentialRecord] = None
    """Sent to its origins only; default is that of base_url. Shown as ***."""

    client_cert: Optional[ClientCertificateRecord] = None
    """Shown to servers of base_url's origin that ask for a client certificate."""

    proxy: Optional[Union[str, ProxyRecordForm]] = None
    """The proxy to go through; secrets are shown as ***."""

    credential_hook: Optional[str] = None
    """The hook that is run when a server refuses the credential."""

    redirect: Optional[RedirectPolicy] = None
    """Whether redirects are followed."""

    max_redirects: Optional[int] = None
    """Most redirects in a row."""

    allow_downgrade: Optional[bool] = None
    """Whether a redirect may lead from https to http."""

    http_version: Optional[HTTPVersion] = None
    """The protocol to use."""

    connect_timeout: Optional[float] = None
    """Seconds; 0 is none."""

    idle_timeout: Optional[float] = None
    """Seconds without a byte that end a try; 0 is none."""

    total_timeout: Optional[float] = None
    """Seconds that one try may take; 0 is none."""

    min_recv_rate: Optional[int] = None
    """Bytes per second that each connection has to receive; 0 is none."""

    min_recv_time: Optional[float] = None
    """Seconds over which min_recv_rate is measured."""

    accept_status: Optional[str] = None
    """Status codes that count as success."""

    accept_types: Optional[List[str]] = None
    """Media types or ranges (image/*), or the presets json, xml, plist, image."""

    reject_html: Optional[bool] = None
    """Whether an answer with a web page (text/html) is a failure."""

    announced_digests: Optional[AnnouncedDigests] = None
    """Whether digests that the server announces are verified."""

    cache_policy: Optional[CachePolicy] = None
    """Whether kept responses are used; default reload: never."""

    store: Optional[bool] = None
    """Whether responses are kept; default is what cache_policy implies."""

    cache_key: Optional[CacheKeyRecord] = None
    """What of URLs does not count in the cache."""

    allow_metered: Optional[bool] = None
    """Whether tasks may go over links that cost money."""

    ip_version: Optional[IPVersion] = None
    """Which addresses to connect to."""

    interface: Optional[str] = None
    """The network interface or local address to connect from."""

    resolve: Optional[List[str]] = None
    """Addresses to use in place of what the resolver says: HOST:PORT:ADDRESS[,ADDRESS]."""

    connect_to: Optional[List[str]] = None
    """What to connect to in place of a host and port: HOST:PORT:TARGET:TARGETPORT."""

    max_active: Optional[int] = None
    """Most transfers of its tasks at once."""

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
            max_recv_rate=wire.get("max_recv_rate"),
            max_send_rate=wire.get("max_send_rate"),
        )


class HeaderRuleInput(TypedDict, total=False):
    """A change to the header fields of requests to some hosts."""

    hosts: Sequence[str]
    """example.org, *.example.org or .example.org, each with an optional :port; none is every host.
    """

    set: HeaderList
    """Fields that replace those of their names."""

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
    """Defaults for the requests of the tasks that name it."""

    base_url: str
    """Relative URLs of tasks are resolved against it; a slash is added to its path where none is at
    the end.
    """

    headers: HeaderList
    """Header fields of requests that have none of the same name."""

    header_rules: Sequence[HeaderRuleInput]
    """Changes to the header fields by host, at every redirect."""

    languages: Sequence[str]
    """Language tags in order of preference, for Accept-Language."""

    cookies: CookieKeeping
    """jar: cookies are kept, over restarts too, and sent; default none."""

    credential: CredentialRecord
    """Sent to its origins only; default is that of base_url. Shown as ***."""

    client_cert: ClientCertificateRecord
    """Shown to servers of base_url's origin that ask for a client certificate."""

    proxy: Union[str, ProxyRecordForm]
    """The proxy to go through; secrets are shown as ***."""

    credential_hook: str
    """A hook of the configuration that is run when a server refuses the credential (401), once for
    all tasks of the profile. It renews the secret where the credential names it (file); then
    each task asks once more.
    """

    redirect: RedirectPolicy
    """Whether redirects are followed."""

    max_redirects: int
    """Most redirects in a row."""

    allow_downgrade: bool
    """Whether a redirect may lead from https to http."""

    http_version: HTTPVersion
    """The protocol to use."""

    connect_timeout: float
    """Seconds; 0 is none."""

    idle_timeout: float
    """Seconds without a byte that end a try; 0 is none."""

    total_timeout: float
    """Seconds that one try may take; 0 is none."""

    min_recv_rate: int
    """Bytes per second that each connection has to receive; 0 is none."""

    min_recv_time: float
    """Seconds over which min_recv_rate is measured."""

    accept_status: str
    """Status codes that count as success."""

    accept_types: Sequence[str]
    """Media types or ranges (image/*), or the presets json, xml, plist, image."""

    reject_html: bool
    """Whether an answer with a web page (text/html) is a failure."""

    announced_digests: AnnouncedDigests
    """Whether digests that the server announces are verified."""

    cache_policy: CachePolicy
    """Whether kept responses are used; default reload: never."""

    store: bool
    """Whether responses are kept; default is what cache_policy implies."""

    cache_key: CacheKeyRecord
    """What of URLs does not count in the cache."""

    allow_metered: bool
    """Whether tasks may go over links that cost money."""

    ip_version: IPVersion
    """Which addresses to connect to."""

    interface: str
    """The network interface or local address to connect from."""

    resolve: Sequence[str]
    """Addresses to use in place of what the resolver says: HOST:PORT:ADDRESS[,ADDRESS]."""

    connect_to: Sequence[str]
    """What to connect to in place of a host and port: HOST:PORT:TARGET:TARGETPORT."""

    max_active: int
    """Most transfers of its tasks at once."""

    max_recv_rate: int
    """Bytes per second that its tasks may receive together; 0 is unlimited."""

    max_send_rate: int
    """Bytes per second that its tasks may send together; 0 is unlimited."""


@dataclass(frozen=True)
class HookListResult:
    """All hooks."""

    hooks: List[HookRecord]
    """The hooks, by name."""

    next_cursor: Optional[str] = None
    """The beginning of the next page; left out after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> HookListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            hooks=listed(HookRecord.from_wire)(wire["hooks"]),
            next_cursor=wire.get("next_cursor"),
        )


@dataclass(frozen=True)
class HookRecord:
    """A command that tasks can name."""

    name: str
    """Its name."""

    argv: List[str]
    """The program's absolute path and its arguments."""

    timeout: int
    """Seconds it may take."""

    guests: bool
    """Whether tasks of users who are no operators may name it."""

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

    next_cursor: Optional[str] = None
    """The beginning of the next page; left out after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> WebhookListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            webhooks=listed(WebhookRecord.from_wire)(wire["webhooks"]),
            next_cursor=wire.get("next_cursor"),
        )


@dataclass(frozen=True)
class WebhookRecord:
    """A receiver of events, and how its deliveries stand."""

    name: str
    """Its name."""

    url: str
    """Where events are sent; secrets in it are ***."""

    events: List[EventType]
    """The types that are sent; none: only the ends of tasks that name it."""

    signed: bool
    """Whether deliveries have a signature."""

    guests: bool
    """Whether tasks of users who are no operators may name it."""

    pending: int
    """Deliveries that are still to be accepted."""

    failed: int
    """Deliveries that were given up in the last 7 days."""

    filter: Optional[WebhookFilterRecord] = None
    """Which events of these types are sent; owners are uids."""

    last_delivered_at: Optional[datetime] = None
    """When the receiver accepted a delivery last."""

    last_failed_at: Optional[datetime] = None
    """When a try failed last."""

    last_failure: Optional[str] = None
    """Why; holds no secrets."""

    paused_until: Optional[datetime] = None
    """While the receiver accepts nothing: when the next delivery is tried."""

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
            last_delivered_at=optional(parse_time, wire.get("last_delivered_at")),
            last_failed_at=optional(parse_time, wire.get("last_failed_at")),
            last_failure=wire.get("last_failure"),
            paused_until=optional(parse_time, wire.get("paused_until")),
        )


@dataclass(frozen=True)
class WebhookFilterRecord:
    """Which events a webhook gets: an event has to satisfy every condition that is there."""

    groups: Optional[List[str]] = None
    """Only events about tasks of one of these groups."""

    labels: Optional[List[str]] = None
    """Only events about tasks with one of these labels."""

    owners: Optional[List[str]] = None
    """Only events about what belongs to one of these users."""

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
    """What became of the test."""

    accepted: bool
    """Whether the receiver accepted it: a status from 200 to 299."""

    duration: float
    """Seconds it took."""

    status: Optional[int] = None
    """The status that was answered."""

    failure: Optional[str] = None
    """Why it was not accepted; holds no secrets."""

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
    """The hosts and what happens to their http URLs."""

    mode: StrictTransportMode
    """The setting trust.hsts: http URLs go over https (upgrade), are refused (deny), or nothing is
    remembered (off).
    """

    hosts: List[SecureHostRecord]
    """The hosts, by name; 4,096 at most on all pages."""

    next_cursor: Optional[str] = None
    """The beginning of the next page; left out after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> StrictTransportListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            mode=wire["mode"],
            hosts=listed(SecureHostRecord.from_wire)(wire["hosts"]),
            next_cursor=wire.get("next_cursor"),
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
    """The forgotten hosts."""

    removed: List[str]
    """The names of hosts that were known."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> StrictTransportClearResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            removed=wire["removed"],
        )


@dataclass(frozen=True)
class EventsSubscribeResult:
    """The subscription."""

    subscription: int
    """Names the subscription on this connection."""

    last_seq: int
    """The last sequence number given out at the time of the call."""

    gap: Optional[bool] = None
    """True when events after since are no longer kept."""

    first_seq: Optional[int] = None
    """With gap: the oldest event that is kept; the replay begins there."""

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
    """How far this answer reaches, filtered-out events included: the seq to ask with next. Equal to
    the requested seq when there is nothing more; below it if the log ends there.
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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.added"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    url: str
    """The URL; secrets in it are ***."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """A task that had a live try when the daemon stopped is going on."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.restored"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    received: int
    """Bytes that were kept."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """A try began."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.started"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    attempt: int
    """Counts from 1 over the task's life."""

    offset: int
    """Bytes kept from earlier tries."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.response"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    status: int
    """The answer's status."""

    total: Optional[int]
    """Complete length in bytes; null while unknown."""

    resumed: bool
    """Whether kept bytes are continued."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.redirected"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    status: int
    """The redirect's status; 307 where no server redirected."""

    from_: str
    """Where from; secrets in it are ***."""

    to: str
    """Where to; secrets in it are ***."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """A task cannot start or go on now; nothing is lost."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.waiting"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    wait: WaitRecord
    """What it waits for."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    error: Optional[FailureRecord] = None
    """The failure that led there."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.paused"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    received: int
    """Bytes that were committed by then; what came since is kept as well, and task.get tells."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.resumed"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """The kept bytes were of another version of the source and are dropped; the task begins again.
    """

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.source_changed"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    reason: str
    """How that was seen."""

    dropped: int
    """Bytes that were dropped."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Received bytes are discarded, for another reason than a new version of the source, or sent
    ones were lost by their server; they are transferred again if the task goes on.
    """

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.bytes_discarded"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    reason: str
    """Why they cannot be used."""

    dropped: int
    """Bytes that were discarded."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Something about the response is odd; the task goes on."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.warning"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    warning: str
    """What is odd, in English."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """A response that is kept is used. With cache_policy revalidate it is told before the server is
    asked: task.result of a data task gives it at once.
    """

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["cache.hit"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    age: Optional[int]
    """Seconds since the server made or confirmed it; null when the clock was set back."""

    fresh: bool
    """Whether it may be used without asking (RFC 9111 section 4.2)."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """After cache.hit: the server sent another response, which is the task's."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.refreshed"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """After cache.hit: the server says that the kept response is current; it is the task's."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.not_modified"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """A download is whole, verified and processed, and waits for task.commit or task.cancel. It is
    not terminal: one of task.completed, task.cancelled and task.superseded follows.
    """

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.staged"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    state: TaskState
    """The state it is in."""

    size: int
    """The file's length in bytes."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """A task is done: its file is whole, verified, durable and under its final name."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.completed"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    terminal: bool
    """True."""

    state: TaskState
    """The state it ended in."""

    size: int
    """Its length in bytes."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    path: Optional[str] = None
    """Absolute path of the file."""

    skipped: Optional[bool] = None
    """True when on_conflict skip, or verify, found the name taken."""

    not_modified: Optional[bool] = None
    """True when on_conflict update found the file current."""

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
        )


@dataclass(frozen=True)
class TaskFailedEvent:
    """A task has failed; task.retry tries it again with the bytes it kept."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.failed"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    terminal: bool
    """True."""

    state: TaskState
    """The state it ended in."""

    error: FailureRecord
    """Why."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.cancelled"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    terminal: bool
    """True."""

    state: TaskState
    """The state it ended in."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Another task took its slot: it is cancelled, and its partial bytes are deleted. No
    task.cancelled follows.
    """

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.superseded"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    terminal: bool
    """True."""

    state: TaskState
    """The state it ended in."""

    by: TaskID
    """The task that is in the slot now."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """A task was forgotten."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["task.removed"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """The last member of a batch has ended. Told once per batch, whatever is retried or removed
    later.
    """

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["batch.completed"]

    batch: BatchID
    """The batch."""

    total: int
    """Members it was added with."""

    finished: int
    """Members that have ended: all of them."""

    skipped: int
    """How many of those failed."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
            skipped=wire["skipped"],
            task_id=wire.get("task_id"),
            owner=wire.get("owner"),
            node=wire.get("node"),
            prev_seq=wire.get("prev_seq"),
            subscription=wire.get("subscription"),
        )


@dataclass(frozen=True)
class QueueIdleEvent:
    """Nothing is queued, waiting for a time, or running any more."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["queue.idle"]

    completed: int
    """Tasks that are completed."""

    failed: int
    """Tasks that have failed."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["activity.changed"]

    active: bool
    """Whether transfers are going on."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """The network is another one; the first after daemon.started says how it is then. See
    network.status.
    """

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["network.changed"]

    network: NetworkState
    """What it is now."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

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
    """What is wrong."""

    chain: List[ShownCertificateRecord]
    """What the server showed, leaf first."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    verify_error: Optional[int] = None
    """OpenSSL's X509_V_ERR code, where a chain is at fault."""

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
    """A certificate that a server showed."""

    subject: str
    """Whom it names."""

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
    """A trust policy's pins will no longer be enforced after its expires_at; told 30, 7 and 1 days
    before, and when it has happened.
    """

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["policy.expiring"]

    policy: str
    """The policy's name."""

    version: int
    """Its version."""

    expires_at: datetime
    """When it turns into the ordinary check."""

    days: int
    """30, 7 or 1 days before; 0 when it has expired."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """A trust policy was edited or removed: connections judged by that version are given up, and
    what ran over them stops at its next safe point and is judged anew.
    """

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["session.invalidated"]

    policy: str
    """The policy's name."""

    version: int
    """The version that is no longer in force."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["daemon.started"]

    version: str
    """Its version."""

    queued: int
    """Tasks that are queued."""

    restored: int
    """Tasks that had a live try when it stopped."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """The daemon is going down."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["daemon.stopping"]

    mode: ShutdownMode
    """What becomes of unfinished tasks."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """How far a running task is; not durable, and coalesced."""

    time: datetime
    """When it happened."""

    type: Literal["task.progress"]

    phase: TaskPhase
    """What the task is doing."""

    received: int
    """Bytes held so far, those kept from earlier tries included."""

    sent: int
    """Bytes sent."""

    total: Optional[int]
    """Complete length in bytes; null while unknown."""

    rate: int
    """Bytes per second over the last seconds."""

    eta: Optional[int]
    """Seconds until the end at that rate; null while unknown."""

    seq: Optional[int] = None
    """Grows by one per durable event over the whole service, over restarts too."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

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
        )


@dataclass(frozen=True)
class EventsOverflowEvent:
    """The client did not read and events were held back too long; this subscription has ended. Go
    on with events.since.
    """

    time: datetime
    """When it happened."""

    type: Literal["events.overflow"]

    last_seq: int
    """The last durable event that was delivered on it."""

    seq: Optional[int] = None
    """Grows by one per durable event over the whole service, over restarts too."""

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["fleet.task_released"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["fleet.task_changed"]

    task_id: TaskID
    """The task it is about."""

    owner: Owner
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

    subscription: Optional[int] = None
    """In a notification: the subscription it belongs to."""

    wish: Optional[str] = None
    """What was asked for."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["fleet.node_joined"]

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """In a fleet: a node is silent for so long that others take its tasks over."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["fleet.node_down"]

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """In a fleet: a node finishes what it holds and takes no more."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["fleet.node_draining"]

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["fleet.node_undrained"]

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """In a fleet: a node that is lost for good was removed."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["fleet.node_forgotten"]

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """In a fleet: the limit of a host, of a group or of an owner, or whether a group is paused."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["fleet.limit_changed"]

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """In a fleet: its database was made. The first event there is."""

    seq: int
    """Grows by one per durable event over the whole service, over restarts too."""

    time: datetime
    """When it happened."""

    type: Literal["fleet.created"]

    task_id: Optional[TaskID] = None
    """The task it is about."""

    owner: Optional[Owner] = None
    """The uid of that task's owner."""

    node: Optional[str] = None
    """In a fleet: the node that carries the task out. Its file lies there, under that node's names.
    """

    prev_seq: Optional[int] = None
    """In a notification: the durable event before it in this subscription; 0 before the first."""

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
    """Events after that sequence number are no longer kept."""

    gap: bool
    """True."""

    first_seq: int
    """The oldest event that is kept."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> EventsSinceGap:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            gap=wire["gap"],
            first_seq=wire["first_seq"],
        )


@dataclass(frozen=True)
class NetworkStatusResult:
    """How the network is."""

    state: NetworkState
    """unknown (counts as online), offline (no default route leads anywhere), metered or unmetered.
    """

    monitored: bool
    """Whether links, addresses and routes are watched (network.monitor)."""

    interfaces: List[NetworkStatusInterface]
    """Network interfaces by index; none while they are not watched."""

    route: Optional[NetworkStatusRoute] = None
    """The way to the host that was asked for."""

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
    """Whether it is up and something is at its other end."""

    metered: bool
    """Whether network.metered_interfaces names it."""

    default_route: bool
    """Whether a default route leads over it."""

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
    """The way to a host."""

    host: str
    """What was asked for."""

    exists: Optional[bool]
    """Whether there is a route; null for a name."""

    source: Optional[str] = None
    """The address this machine would speak from."""

    interface: Optional[str] = None
    """The interface that has this address, as far as is known."""

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
    """As token.list shows it."""

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
    """The uid of the user it calls for."""

    scope: TokenScope
    """What it allows within the rights of its user."""

    created_at: datetime
    """When it was added."""

    expires_at: Optional[datetime] = None
    """It is refused from then on; absent is never."""

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

    next_cursor: Optional[str] = None
    """The beginning of the next page; left out after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TokenListResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            tokens=listed(TokenRecord.from_wire)(wire["tokens"]),
            next_cursor=wire.get("next_cursor"),
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
    """Which daemon this is and whether it is well."""

    version: str
    """The daemon's version."""

    pid: int
    """Its process id."""

    uptime: int
    """Seconds since it started."""

    state_dir: str
    """Absolute path of its state directory."""

    socket: str
    """The socket it answers on."""

    store_id: str
    """Changes with a new database: ids and sequence numbers then start anew."""

    degraded: bool
    """True if the database (nothing starts, reading works) or another file of the daemon cannot be
    written.
    """

    shutting_down: bool
    """Whether it is about to stop and takes no new work."""

    counts: StateCounts
    """Tasks by state."""

    network: NetworkState
    """What network.changed said last."""

    activity: bool
    """Whether transfers are going on, debounced."""

    node: Optional[str] = None
    """Of xfer-fleet: the node that answers. Tasks and counts are those of its fleet."""

    degraded_reason: Optional[str] = None
    """The reason: what cannot be written, and why."""

    config_problem: Optional[str] = None
    """Why the configuration file was not taken over when it was read last; for operators."""

    restart_keys: Optional[List[str]] = None
    """Keys of the configuration whose new values wait for a restart; for operators."""

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
            config_problem=wire.get("config_problem"),
            restart_keys=wire.get("restart_keys"),
        )


@dataclass(frozen=True)
class DaemonConfigResult:
    """The settings that hold now."""

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
    """Its value as the configuration file may hold it: YAML text."""

    origin: str
    """Where the value came from, for people: command line, environment NAME, FILE:LINE,
    queue.set_limits or default.
    """

    reloadable: bool
    """Whether a change takes effect without a restart."""

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
    """How it is going to stop."""

    mode: ShutdownMode
    """How it is going to stop."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> DaemonShutdownResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            mode=wire["mode"],
        )


@dataclass(frozen=True)
class FleetStatusResult:
    """The fleet as a node sees it."""

    fleet: str
    """Names the fleet; changes with a new database."""

    node: str
    """The node that answers."""

    version: str
    """The version of its xfer-fleet."""

    schema: int
    """The number of the database's schema."""

    daemon: bool
    """Whether the node's xferd answers."""

    nodes: int
    """Nodes that are known."""

    live: int
    """Nodes whose beat this node has seen change lately."""

    counts: StateCounts
    """Tasks by state."""

    daemon_problem: Optional[str] = None
    """Why the node's xferd cannot be used."""

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

    next_cursor: Optional[str] = None
    """The beginning of the next page; left out after the last."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetNodesResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            nodes=listed(FleetNodeRecord.from_wire)(wire["nodes"]),
            next_cursor=wire.get("next_cursor"),
        )


@dataclass(frozen=True)
class FleetNodeRecord:
    """A node of the fleet."""

    name: str
    """Names the node."""

    state: FleetNodeState
    """Whether it beats, as the node that answers sees it."""

    draining: bool
    """Whether it takes no new tasks."""

    places: List[str]
    """Where its tasks come from, beside those for it alone."""

    slots: int
    """Tasks that it holds at most."""

    leases: int
    """Tasks that it holds. A node that drains and holds none may be stopped."""

    pinned: int
    """Unfinished tasks that only it can carry out."""

    version: str
    """The version of its xfer-fleet."""

    beat: int
    """Grows while the node lives."""

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
    """The node as it is now."""

    node: FleetNodeRecord
    """The node as it is now."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FleetDrainResult:
        """Reads what the daemon sent. Fields that this version does not know are ignored."""
        return cls(
            node=FleetNodeRecord.from_wire(wire["node"]),
        )


@dataclass(frozen=True)
class FleetForgetResult:
    """What forgetting the node means for its tasks."""

    forgotten: bool
    """Whether the node was removed."""

    requeued: List[TaskID]
    """Tasks that other nodes take, at most 1,000 of them."""

    failed: List[TaskID]
    """Tasks that no other node can take, at most 1,000 of them."""

    requeued_count: int
    """How many are queued again."""

    failed_count: int
    """How many fail."""

    parts: int
    """How many partial files the node has on shared storages; with confirm they were removed."""

    storages_left: List[str]
    """Shared storages that this node cannot look at: partial files may stay there."""

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
"""What stands for a URL in the cache: a text in its place, or what of it does not count."""


TaskAddResult = Union[TaskAddOne, TaskAddMany]


SelectionResult = Union[SelectionResultListed, SelectionResultCounted]


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
    return SelectionResultCounted.from_wire(wire)


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
