"""The methods of the daemon, for asyncio.

scripts/generate-python-client writes this file from rpc-schema/openrpc.json.
"""
from __future__ import annotations

from typing import Any, Dict, Literal, Mapping, Optional, Sequence, Union

from ._values import AsyncCaller, UNSET, Maybe, Time, as_object
from .records import (
    TaskKind,
    HeaderChanges,
    BodyInput,
    PartInput,
    UploadProtocol,
    ConflictPolicy,
    Priority,
    FinalizeMode,
    TaskReference,
    WindowRecord,
    BatchID,
    ResumeMode,
    RedirectPolicy,
    HTTPVersion,
    AnnouncedDigests,
    ResponseParser,
    CredentialRecord,
    ClientCertificateRecord,
    CookieRecord,
    ProxyRecordForm,
    CachePolicy,
    CacheKey,
    IPVersion,
    NewTask,
    TaskID,
    Owner,
    TaskState,
    TaskAddMany,
    TaskAddResult,
    TaskColumns,
    TaskGetResult,
    TaskFilter,
    TaskListOrder,
    TaskListResult,
    TaskCountResult,
    TaskWaitResult,
    SelectionResultListed,
    OperationID,
    SelectionResult,
    TaskChanges,
    TaskUpdateManyResult,
    TaskMovePosition,
    TaskReadResult,
    TaskResultResult,
    TaskRecordDigestResult,
    OperationGetResult,
    OperationListResult,
    QueueStatsResult,
    QueueOrder,
    QueuePauseResult,
    QueueSetLimitsResult,
    QueueHostsResult,
    QueueSetHostResult,
    BatchEntry,
    BatchAddResult,
    BatchGetResult,
    BatchListResult,
    GroupListResult,
    GroupGetResult,
    GroupRemoveResult,
    SlotGetResult,
    CacheStatsResult,
    ListOrder,
    CacheListResult,
    CacheEntryID,
    CacheGetResult,
    CacheRemoveResult,
    CacheClearResult,
    FailedURLListResult,
    FailedURLID,
    FailedURLRemoveResult,
    FailedURLClearResult,
    PolicyListResult,
    PolicyGetResult,
    PolicyInput,
    Done,
    ServerReportRecord,
    ProfileListResult,
    ProfileGetResult,
    ProfileInput,
    HookListResult,
    WebhookListResult,
    WebhookTestResult,
    StrictTransportListResult,
    StrictTransportClearResult,
    EventName,
    ShutdownMode,
    EventsSinceResult,
    NetworkStatusResult,
    TokenScope,
    TokenAddResult,
    TokenListResult,
    LeaseRenewResult,
    DaemonStatusResult,
    DaemonConfigResult,
    DaemonBackupResult,
    DaemonShutdownResult,
    FleetStatusResult,
    FleetNodesResult,
    FleetDrainResult,
    FleetForgetResult,
    decode_task_add_result,
    decode_selection_result,
    decode_task_update_many_result,
    decode_events_since_result,
)


class AsyncTaskMethods:
    """The methods task.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def add(
        self,
        *,
        url: Maybe[str] = UNSET,
        urls: Maybe[Sequence[str]] = UNSET,
        kind: Maybe[TaskKind] = UNSET,
        method: Maybe[str] = UNSET,
        headers: Maybe[HeaderChanges] = UNSET,
        params: Maybe[Mapping[str, Any]] = UNSET,
        body: Maybe[BodyInput] = UNSET,
        parts: Maybe[Sequence[PartInput]] = UNSET,
        source: Maybe[str] = UNSET,
        upload: Maybe[UploadProtocol] = UNSET,
        spool: Maybe[bool] = UNSET,
        chunk_size: Maybe[int] = UNSET,
        creation_with_upload: Maybe[bool] = UNSET,
        upload_parts: Maybe[int] = UNSET,
        output: Maybe[str] = UNSET,
        dir: Maybe[str] = UNSET,
        on_conflict: Maybe[ConflictPolicy] = UNSET,
        mode: Maybe[str] = UNSET,
        remote_time: Maybe[bool] = UNSET,
        allow_hidden: Maybe[bool] = UNSET,
        checksum: Maybe[str] = UNSET,
        priority: Maybe[Priority] = UNSET,
        group: Maybe[str] = UNSET,
        label: Maybe[str] = UNSET,
        client_key: Maybe[str] = UNSET,
        owner: Maybe[str] = UNSET,
        slot: Maybe[str] = UNSET,
        finalize: Maybe[FinalizeMode] = UNSET,
        post_process: Maybe[str] = UNSET,
        on_complete: Maybe[str] = UNSET,
        on_error: Maybe[str] = UNSET,
        on_end: Maybe[Sequence[str]] = UNSET,
        coalesce: Maybe[bool] = UNSET,
        paused: Maybe[bool] = UNSET,
        after: Maybe[Sequence[TaskReference]] = UNSET,
        not_before: Maybe[Time] = UNSET,
        window: Maybe[WindowRecord] = UNSET,
        deadline: Maybe[Time] = UNSET,
        after_batch: Maybe[BatchID] = UNSET,
        after_group: Maybe[str] = UNSET,
        lease: Maybe[str] = UNSET,
        max_retries: Maybe[int] = UNSET,
        retry_for: Maybe[int] = UNSET,
        retry_non_idempotent: Maybe[bool] = UNSET,
        retry_failed: Maybe[bool] = UNSET,
        max_recv_rate: Maybe[int] = UNSET,
        max_send_rate: Maybe[int] = UNSET,
        segments: Maybe[Union[int, Literal["auto"]]] = UNSET,
        range: Maybe[str] = UNSET,
        max_size: Maybe[int] = UNSET,
        resume: Maybe[ResumeMode] = UNSET,
        profile: Maybe[str] = UNSET,
        redirect: Maybe[Optional[RedirectPolicy]] = UNSET,
        path_as_is: Maybe[bool] = UNSET,
        max_redirects: Maybe[Optional[int]] = UNSET,
        allow_downgrade: Maybe[Optional[bool]] = UNSET,
        http_version: Maybe[Optional[HTTPVersion]] = UNSET,
        connect_timeout: Maybe[Optional[float]] = UNSET,
        idle_timeout: Maybe[Optional[float]] = UNSET,
        total_timeout: Maybe[Optional[float]] = UNSET,
        min_recv_rate: Maybe[Optional[int]] = UNSET,
        min_recv_time: Maybe[Optional[float]] = UNSET,
        accept_status: Maybe[Optional[str]] = UNSET,
        accept_types: Maybe[Optional[Sequence[str]]] = UNSET,
        reject_html: Maybe[Optional[bool]] = UNSET,
        announced_digests: Maybe[Optional[AnnouncedDigests]] = UNSET,
        parse: Maybe[Sequence[ResponseParser]] = UNSET,
        strip_nulls: Maybe[bool] = UNSET,
        credential: Maybe[Optional[CredentialRecord]] = UNSET,
        client_cert: Maybe[Optional[ClientCertificateRecord]] = UNSET,
        cookies: Maybe[Optional[bool]] = UNSET,
        cookie_list: Maybe[Sequence[CookieRecord]] = UNSET,
        proxy: Maybe[Optional[Union[str, ProxyRecordForm]]] = UNSET,
        cache_policy: Maybe[Optional[CachePolicy]] = UNSET,
        store: Maybe[Optional[bool]] = UNSET,
        cache_key: Maybe[Optional[CacheKey]] = UNSET,
        allow_metered: Maybe[Optional[bool]] = UNSET,
        ip_version: Maybe[Optional[IPVersion]] = UNSET,
        interface: Maybe[Optional[str]] = UNSET,
        ca_file: Maybe[str] = UNSET,
        resolve: Maybe[Optional[Sequence[str]]] = UNSET,
        connect_to: Maybe[Optional[Sequence[str]]] = UNSET,
        unix_socket: Maybe[str] = UNSET,
        progress_interval: Maybe[float] = UNSET,
        policy: Maybe[str] = UNSET,
        meta: Maybe[Any] = UNSET,
        tasks: Maybe[Sequence[NewTask]] = UNSET,
    ) -> TaskAddResult:
        """Adds one task (its fields are the parameters), or up to 10,000 in one transaction
        (tasks). When it returns, they are durable.

        Args:
            url: URL to request: an absolute http or https URL, or one relative to the profile's
                base_url.
            urls: In place of url, for downloads and data tasks with GET: mirrors of the same bytes,
                in order of preference. Fields that are bound to an origin (credential, client_cert,
                secret header fields) apply to the first one.
            kind: download: the response is written to a file. data: it is stored for task.result.
                upload: like data, and source, body or parts are sent. Default download.
            method: Any method except CONNECT and TRACE; for downloads, one of GET, POST, PUT, PATCH
                and DELETE. Default GET; POST if there is content, PUT for a plain upload of a file.
            headers: Header fields to send; those that framing and resuming depend on (Range,
                Content-Length, …) are refused. null removes the profile's field.
            params: Parameters: for GET, HEAD and DELETE in the query, else as a form, or as the
                first parts. Keys are sorted; members are key[member], elements key[], null is a
                bare key.
            body: Content of the request.
            parts: A multipart form in place of body.
            source: For an upload: absolute path of the file; it must not change until it is sent.
            upload: Protocol of the upload: plain (a retry starts over), tus (1.0) or resumable
                (IETF draft); default plain.
            spool: First copy the files to send, so that they may change afterwards; default false.
            chunk_size: With upload tus: largest request in bytes, for proxies that limit contents;
                default upload.chunk_size.
            creation_with_upload: With upload tus: true to send the first bytes (up to 1 MiB) in the
                request that creates the upload, which saves a request for small files; default
                false.
            upload_parts: With upload tus: the number of parts (at least 1 MiB each) sent at the
                same time. A server that does not join parts gets one upload; default 1.
            output: The file's name, or a path: relative to dir, or absolute. By default the name
                comes from the server or the URL.
            dir: Absolute path of the file's directory; default is the daemon's.
            on_conflict: Action if the name is taken: rename (name (1).ext), overwrite, skip, fail,
                update (fetch unless it is the current version and xferd fetched it), verify (fetch
                unless the file has the checksum), or continue (fetch the rest of what another
                program left); default rename.
            mode: Permission bits of the file, octal text.
            remote_time: Give the file the server's Last-Modified time; default false.
            allow_hidden: Allow a path with a hidden component directly beneath a home directory,
                such as ~/.ssh; default false. Without the scope operate, a token cannot write to
                hidden paths.
            checksum: The digest that the finished bytes must have: ALGORITHM=DIGEST with sha-256,
                sha-512, sha-384, sha-224, blake2b, sha-1 or md5, in hex or base64; hex alone,
                sha256-BASE64 or a line of a checksum file.
            priority: Strict order of starting; default normal.
            group: A group of yours, with which tasks can be paused, limited and selected.
            label: Text for people; tasks can also be selected by it.
            client_key: Makes the add safe to repeat: the same key with the same request returns the
                task that exists.
            owner: The user for whom it is added, with that user's rights: a name or a decimal uid;
                default is the caller. All tasks of a call have the same owner.
            slot: Slot name. Adding a task to a slot cancels the task that occupies it
                (task.superseded).
            finalize: For a download: auto publishes the file once it is complete and verified,
                manual keeps it staged until task.commit; default auto.
            post_process: For a download: the operator's hook that processes the file before it is
                staged or published.
            on_complete: The operator's hook that runs when the task has completed.
            on_error: The operator's hook that runs when the task has failed.
            on_end: Webhooks of the operator that get the event of the task's end, in addition to
                those that get such events anyway.
            coalesce: True to share one request with tasks that request the same; each gets its own
                copy. Default true.
            paused: Add it paused; default false.
            after: Tasks that must complete first; if one ends otherwise, this task fails with
                dependency_failed. Negative numbers count back within the same call: -1 is the task
                before this one.
            not_before: Earliest start time.
            window: Times at which it may run; outside them it stops and waits.
            deadline: Time at which it fails with deadline_exceeded unless it has ended or is
                staged.
            after_batch: Batch whose members have to complete before it starts; if one ends
                otherwise, this task fails with dependency_failed. Members that were removed before
                do not count.
            after_group: Group of the same owner: its tasks that are unfinished when this task is
                added must complete before it starts. If one ends otherwise, this task fails with
                dependency_failed.
            lease: Name of a lease: the task runs, and its file is published, only while the lease
                is in force; see lease.renew.
            max_retries: Attempts after the first; default unlimited within retry_for.
            retry_for: Seconds without progress for which it is retried; pauses and other waits do
                not count.
            retry_non_idempotent: True to repeat a POST or PATCH that failed after it was sent,
                although the server may have acted on it; default false.
            retry_failed: True to request the URL even if it is on the failed-URL list; else the
                task fails at once with blocked_url. Default false.
            max_recv_rate: Bytes per second it may receive; 0, the default, is unlimited.
            max_send_rate: Bytes per second it may send; 0, the default, is unlimited.
            segments: For a download: number of parts that are fetched at the same time, each over a
                connection of its own, if the server supports it; auto measures how many help.
                Default is download.segments.
            range: For a download with GET: the part of the source to fetch. A checksum applies to
                the part. If the server sends the whole source, the task fails. Not allowed with
                caching.
            max_size: For a download: its greatest length in bytes. A larger one fails with
                too_large, and its bytes are deleted. Default is unlimited.
            resume: Resume of kept bytes without a validator: auto (default) starts over, unsafe
                continues.
            profile: Profile that supplies fields left unset here; null in one of the following
                fields unsets the profile's value.
            redirect: Redirects: follow (default) or deny. With deny the redirect's response is the
                result if accept_status allows its status.
            path_as_is: True if . and .. in its URLs' paths are sent unchanged; default false: they
                are resolved. Redirects are always resolved.
            max_redirects: Highest number of successive redirects; default 20.
            allow_downgrade: True to allow redirects from https to http; default false.
            http_version: The protocol to use; default auto.
            connect_timeout: Seconds for name resolution, TCP and TLS; 0 is unlimited; default 30.
            idle_timeout: Seconds without a byte after which an attempt ends; 0 is never; default 15
                for data, 60 for files.
            total_timeout: Seconds that one attempt may take; 0, the default, is unlimited.
            min_recv_rate: Minimum bytes per second of each connection, measured over min_recv_time;
                a slower one ends the attempt; 0 turns this off; default download.min_recv_rate.
            min_recv_time: Seconds over which min_recv_rate is measured; pauses of the service do
                not count; default download.min_recv_time.
            accept_status: Status codes of success: ranges and codes, separated by commas; default
                200-299.
            accept_types: Accepted media types or ranges (image/*), or the presets json, xml, plist,
                image; default all.
            reject_html: True to treat an answer with a web page (text/html) as a failure; default
                false.
            announced_digests: Treatment of digests that the server announces: verify or ignore;
                default verify.
            parse: For data and uploads: parsers of the response for task.result; the first that
                succeeds is used.
            strip_nulls: Remove null members of objects from the parsed response; default false.
            credential: Credential; sent only to its origins.
            client_cert: Client certificate for servers of the URL's origin that request one;
                operators only.
            cookies: True to send and keep the profile's cookies; default: the profile's. False also
                ignores cookies that a response sets for the next hop.
            cookie_list: Cookies of its own in place of a profile's, each sent to the servers to
                which it applies. Cookies that servers set apply to the attempt only.
            proxy: The proxy to go through.
            cache_policy: Use of a cached response: protocol (RFC 9111), prefer_cache and
                only_if_cached (even if stale), revalidate (used at once, then validated), reload
                and reload_all (not used); default reload.
            store: True to cache the response; the default depends on cache_policy.
            cache_key: Key of the URL in the cache: a text, or the parts of the URL to ignore.
            allow_metered: True if it may use links that cost money (network.metered_interfaces); if
                false, it waits for another link. Default true.
            ip_version: Addresses to connect to: any, IPv4 or IPv6; default any.
            interface: The network interface or local address to connect from.
            ca_file: Absolute path of a PEM file: the certificate authorities that are trusted in
                place of the daemon's; the trust policies still apply. For operators, and the file's
                owner.
            resolve: Addresses to use in place of the resolver's: HOST:PORT:ADDRESS[,ADDRESS]; * is
                any host.
            connect_to: Targets to connect to in place of hosts and ports:
                HOST:PORT:TARGET:TARGETPORT, each part may be empty; TLS and pins still check the
                URL's name.
            unix_socket: Absolute path of the Unix socket through which the URL's host is reached,
                without a proxy. Other hosts, to which redirects lead, are reached as usual.
            progress_interval: Minimum seconds between task.progress events; default 0.5.
            policy: A trust policy that must accept every matching server in addition to the host's
                own; it must match the URL's host.
            meta: Any JSON of the client's own, returned unchanged.
            tasks: Instead of the other parameters: Up to 10,000 tasks, added in one transaction:
                all or none.

        Takes the scope add.
        """
        parameters = {
            "url": url,
            "urls": urls,
            "kind": kind,
            "method": method,
            "headers": headers,
            "params": params,
            "body": body,
            "parts": parts,
            "source": source,
            "upload": upload,
            "spool": spool,
            "chunk_size": chunk_size,
            "creation_with_upload": creation_with_upload,
            "upload_parts": upload_parts,
            "output": output,
            "dir": dir,
            "on_conflict": on_conflict,
            "mode": mode,
            "remote_time": remote_time,
            "allow_hidden": allow_hidden,
            "checksum": checksum,
            "priority": priority,
            "group": group,
            "label": label,
            "client_key": client_key,
            "owner": owner,
            "slot": slot,
            "finalize": finalize,
            "post_process": post_process,
            "on_complete": on_complete,
            "on_error": on_error,
            "on_end": on_end,
            "coalesce": coalesce,
            "paused": paused,
            "after": after,
            "not_before": not_before,
            "window": window,
            "deadline": deadline,
            "after_batch": after_batch,
            "after_group": after_group,
            "lease": lease,
            "max_retries": max_retries,
            "retry_for": retry_for,
            "retry_non_idempotent": retry_non_idempotent,
            "retry_failed": retry_failed,
            "max_recv_rate": max_recv_rate,
            "max_send_rate": max_send_rate,
            "segments": segments,
            "range": range,
            "max_size": max_size,
            "resume": resume,
            "profile": profile,
            "redirect": redirect,
            "path_as_is": path_as_is,
            "max_redirects": max_redirects,
            "allow_downgrade": allow_downgrade,
            "http_version": http_version,
            "connect_timeout": connect_timeout,
            "idle_timeout": idle_timeout,
            "total_timeout": total_timeout,
            "min_recv_rate": min_recv_rate,
            "min_recv_time": min_recv_time,
            "accept_status": accept_status,
            "accept_types": accept_types,
            "reject_html": reject_html,
            "announced_digests": announced_digests,
            "parse": parse,
            "strip_nulls": strip_nulls,
            "credential": credential,
            "client_cert": client_cert,
            "cookies": cookies,
            "cookie_list": cookie_list,
            "proxy": proxy,
            "cache_policy": cache_policy,
            "store": store,
            "cache_key": cache_key,
            "allow_metered": allow_metered,
            "ip_version": ip_version,
            "interface": interface,
            "ca_file": ca_file,
            "resolve": resolve,
            "connect_to": connect_to,
            "unix_socket": unix_socket,
            "progress_interval": progress_interval,
            "policy": policy,
            "meta": meta,
            "tasks": tasks,
        }
        return await self._caller.ask("task.add", parameters, decode_task_add_result)

    async def get(
        self,
        id: TaskID,
        *,
        fields: Maybe[TaskColumns] = UNSET,
        secrets: Maybe[bool] = UNSET,
    ) -> TaskGetResult:
        """One task with everything known about it.

        Args:
            id: The task.
            fields: Fields to return; default all.
            secrets: True to return url, urls and headers with their secrets: only to the task's
                owner, over the Unix socket. Logins stay masked.

        Takes the scope read.
        """
        parameters = {
            "id": id,
            "fields": fields,
            "secrets": secrets,
        }
        return await self._caller.ask("task.get", parameters, TaskGetResult.from_wire)

    async def list(
        self,
        *,
        filter: Maybe[TaskFilter] = UNSET,
        fields: Maybe[TaskColumns] = UNSET,
        order: Maybe[TaskListOrder] = UNSET,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> TaskListResult:
        """Tasks by id, newest first, page by page. A task that matches throughout appears exactly
        once. With order queue, a task that moves between pages may appear twice or not at all.

        Args:
            filter: The tasks to list; default all that the caller may see.
            fields: Fields to return; default all but response_headers.
            order: By id: newest first (desc) or oldest first (asc). queue: queued tasks alone, by
                priority, then host by host (and group and profile) in the order in which the hosts
                get their turns, and for each host in the order of starting.
            limit: Highest number of tasks in one answer. A page also ends at 1 MiB, or after 10,000
                inspected tasks: it may have fewer tasks, even none, with a next_cursor.
            cursor: next_cursor of the previous page; filter and order must be the same.

        Takes the scope read.
        """
        parameters = {
            "filter": filter,
            "fields": fields,
            "order": order,
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("task.list", parameters, TaskListResult.from_wire)

    async def count(self, *, filter: Maybe[TaskFilter] = UNSET) -> TaskCountResult:
        """Number of tasks that match a filter, by state. They are counted in steps: a task that
        changes meanwhile counts in one of its states.

        Args:
            filter: The tasks to count; default all that the caller may see.

        Takes the scope read.
        """
        return await self._caller.ask("task.count", {"filter": filter}, TaskCountResult.from_wire)

    async def wait(
        self,
        *,
        ids: Maybe[Sequence[TaskID]] = UNSET,
        filter: Maybe[TaskFilter] = UNSET,
        any: Maybe[bool] = UNSET,
        until: Maybe[Union[TaskState, Sequence[TaskState]]] = UNSET,
        timeout: Maybe[float] = UNSET,
        fields: Maybe[TaskColumns] = UNSET,
    ) -> TaskWaitResult:
        """Answers when each task (with any: one) is terminal or staged, in a state of until, or
        gone; or when the timeout has passed. The open calls of a user may wait for 100,000 tasks
        together.

        Args:
            ids: The tasks.
            filter: The unfinished tasks that match at the call, 100,000 at most; tasks that are
                added later are not waited for.
            any: True to answer when one task has ended; default: when all have.
            until: Further states that end the wait.
            timeout: Longest time to wait, in seconds; default unlimited.
            fields: Fields to return; default all but response_headers. An empty list ([]) returns
                no tasks.

        Takes the scope read.
        """
        parameters = {
            "ids": ids,
            "filter": filter,
            "any": any,
            "until": until,
            "timeout": timeout,
            "fields": fields,
        }
        return await self._caller.ask("task.wait", parameters, TaskWaitResult.from_wire)

    async def pause(
        self,
        *,
        ids: Maybe[Sequence[TaskID]] = UNSET,
        filter: Maybe[TaskFilter] = UNSET,
        background: Maybe[bool] = UNSET,
    ) -> SelectionResult:
        """Pauses tasks; running ones stop at their last committed byte. Pausing a paused task
        changes nothing.

        Args:
            ids: These tasks, in one transaction.
            filter: All tasks that match and exist at the call, step by step; not atomic.
            background: With a filter: answers at once with the id of an operation that continues in
                the background, also after a crash (operation.get, operation.ended); default false.

        Takes the scope own.
        """
        parameters = {
            "ids": ids,
            "filter": filter,
            "background": background,
        }
        return await self._caller.ask("task.pause", parameters, decode_selection_result)

    async def resume(
        self,
        *,
        ids: Maybe[Sequence[TaskID]] = UNSET,
        filter: Maybe[TaskFilter] = UNSET,
        background: Maybe[bool] = UNSET,
    ) -> SelectionResult:
        """Queues paused tasks again; waiting ones start now, unless they wait for their own
        conditions (schedule, dependency, lease).

        Args:
            ids: These tasks, in one transaction.
            filter: All tasks that match and exist at the call, step by step; not atomic.
            background: With a filter: answers at once with the id of an operation that continues in
                the background, also after a crash (operation.get, operation.ended); default false.

        Takes the scope own.
        """
        parameters = {
            "ids": ids,
            "filter": filter,
            "background": background,
        }
        return await self._caller.ask("task.resume", parameters, decode_selection_result)

    async def cancel(
        self,
        *,
        ids: Maybe[Sequence[TaskID]] = UNSET,
        filter: Maybe[TaskFilter] = UNSET,
        background: Maybe[bool] = UNSET,
    ) -> SelectionResult:
        """Cancels unfinished tasks and deletes their partial bytes; never a published file.

        Args:
            ids: These tasks, in one transaction.
            filter: All tasks that match and exist at the call, step by step; not atomic.
            background: With a filter: answers at once with the id of an operation that continues in
                the background, also after a crash (operation.get, operation.ended); default false.

        Takes the scope own.
        """
        parameters = {
            "ids": ids,
            "filter": filter,
            "background": background,
        }
        return await self._caller.ask("task.cancel", parameters, decode_selection_result)

    async def retry(
        self,
        *,
        ids: Maybe[Sequence[TaskID]] = UNSET,
        filter: Maybe[TaskFilter] = UNSET,
        background: Maybe[bool] = UNSET,
    ) -> SelectionResult:
        """Queues failed tasks again, with their kept bytes and a new count of attempts; cancelled
        ones start from their first byte, and a filter selects them only if it has the state
        cancelled. Suspects are retried, too.

        Args:
            ids: These tasks, in one transaction.
            filter: All tasks that match and exist at the call, step by step; not atomic.
            background: With a filter: answers at once with the id of an operation that continues in
                the background, also after a crash (operation.get, operation.ended); default false.

        Takes the scope own.
        """
        parameters = {
            "ids": ids,
            "filter": filter,
            "background": background,
        }
        return await self._caller.ask("task.retry", parameters, decode_selection_result)

    async def remove(
        self,
        *,
        ids: Maybe[Sequence[TaskID]] = UNSET,
        filter: Maybe[TaskFilter] = UNSET,
        files: Maybe[bool] = UNSET,
        background: Maybe[bool] = UNSET,
    ) -> SelectionResult:
        """Removes terminal tasks and deletes their kept partial bytes. With files it deletes the
        files that they published, too, with their owners' rights; a file that was replaced since
        then is kept and listed. Tasks whose files cannot be deleted stay.

        Args:
            ids: These tasks, in one transaction.
            filter: All tasks that match and exist at the call, step by step; not atomic.
            files: True to delete the files that they published; default false.
            background: With a filter: answers at once with the id of an operation that continues in
                the background, also after a crash (operation.get, operation.ended); default false.

        Takes the scope own.
        """
        parameters = {
            "ids": ids,
            "filter": filter,
            "files": files,
            "background": background,
        }
        return await self._caller.ask("task.remove", parameters, decode_selection_result)

    async def update(self, id: TaskID, changes: TaskChanges) -> TaskGetResult:
        """Changes fields of an unfinished task; if one field is refused, nothing changes. kind,
        method, url and client_key never change.

        Args:
            id: The task.
            changes: The fields to change.

        Takes the scope own.
        """
        parameters = {
            "id": id,
            "changes": changes,
        }
        return await self._caller.ask("task.update", parameters, TaskGetResult.from_wire)

    async def update_many(
        self,
        filter: TaskFilter,
        changes: TaskChanges,
        *,
        background: Maybe[bool] = UNSET,
    ) -> TaskUpdateManyResult:
        """Changes fields of every unfinished task that matches and exists at the call, each as
        task.update does; not atomic. Ended tasks are unchanged; those that cannot be changed are
        refused with the reason.

        Args:
            filter: The tasks.
            changes: The fields to change.
            background: Answers at once with the id of an operation that continues in the
                background, also after a crash (operation.get, operation.ended); default false.

        Takes the scope own.
        """
        parameters = {
            "filter": filter,
            "changes": changes,
            "background": background,
        }
        return await self._caller.ask("task.update_many", parameters, decode_task_update_many_result)

    async def move(
        self,
        ids: Sequence[TaskID],
        to: TaskMovePosition,
        *,
        target: Maybe[TaskID] = UNSET,
    ) -> SelectionResult:
        """Moves tasks within the order of their host, group, profile and priority; several keep the
        order of ids. top also makes their host the next one.

        Args:
            ids: The tasks.
            to: The new place.
            target: The task to move before or after.

        Takes the scope own.
        """
        parameters = {
            "ids": ids,
            "to": to,
            "target": target,
        }
        return await self._caller.ask("task.move", parameters, decode_selection_result)

    async def set_source(self, id: TaskID, url: str) -> TaskGetResult:
        """Gives a download another URL for the same bytes, for instance a freshly signed one; not
        while it runs. Kept bytes are continued only if the server shows that they are of the
        same version. A task that waits because of its previous URL, or has failed, continues at
        once.

        Args:
            id: The task.
            url: An absolute http or https URL.

        Takes the scope own.
        """
        parameters = {
            "id": id,
            "url": url,
        }
        return await self._caller.ask("task.set_source", parameters, TaskGetResult.from_wire)

    async def commit(
        self,
        *,
        ids: Maybe[Sequence[TaskID]] = UNSET,
        filter: Maybe[TaskFilter] = UNSET,
        background: Maybe[bool] = UNSET,
    ) -> SelectionResult:
        """Publishes staged downloads (finalize manual) under their final names. All ids are checked
        before the first file gets its name; a task that cannot be published, because its name is
        taken, the disk is full or its bytes were changed, stays staged, and the answer is a
        conflict with one of the reasons of failed tasks. Committing a completed task changes
        nothing.

        Args:
            ids: These tasks, in one transaction.
            filter: All tasks that match and exist at the call, step by step; not atomic.
            background: With a filter: answers at once with the id of an operation that continues in
                the background, also after a crash (operation.get, operation.ended); default false.

        Takes the scope own.
        """
        parameters = {
            "ids": ids,
            "filter": filter,
            "background": background,
        }
        return await self._caller.ask("task.commit", parameters, decode_selection_result)

    async def read(
        self,
        id: TaskID,
        *,
        offset: Maybe[int] = UNSET,
        length: Maybe[int] = UNSET,
    ) -> TaskReadResult:
        """A range of a task's bytes: for a download that has not ended, the bytes committed so far;
        for a staged one, its file; for a completed one, the published file if it is unchanged
        (inode, birth time, size and modification time); for data tasks and uploads, the stored
        response; for a running data task, the bytes received so far. If the version differs
        between two pages, they belong to different files: begin again.

        Args:
            id: The task.
            offset: Offset of the first byte.
            length: Highest number of bytes.

        Takes the scope read.
        """
        parameters = {
            "id": id,
            "offset": offset,
            "length": length,
        }
        return await self._caller.ask("task.read", parameters, TaskReadResult.from_wire)

    async def result(
        self,
        id: TaskID,
        *,
        offset: Maybe[int] = UNSET,
        length: Maybe[int] = UNSET,
    ) -> TaskResultResult:
        """A range of the stored response of a data or upload task, and the parsed object. Stored
        for 7 days, also for a task that failed because of its status, type or content.

        Args:
            id: The task.
            offset: Offset of the first byte.
            length: Highest number of bytes.

        Takes the scope read.
        """
        parameters = {
            "id": id,
            "offset": offset,
            "length": length,
        }
        return await self._caller.ask("task.result", parameters, TaskResultResult.from_wire)

    async def record_digest(self, id: TaskID, digest: str) -> TaskRecordDigestResult:
        """Records a digest that the client has computed of a completed download's file, for later
        verifications. It is accepted only while the published file is unchanged, and never
        replaces a known digest. The answer contains the known digest.

        Args:
            id: The task.
            digest: Algorithm and hexadecimal digits, such as sha-256=HEX.

        Takes the scope own.
        """
        parameters = {
            "id": id,
            "digest": digest,
        }
        return await self._caller.ask("task.record_digest", parameters, TaskRecordDigestResult.from_wire)


class AsyncOperationMethods:
    """The methods operation.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def get(self, id: OperationID) -> OperationGetResult:
        """Progress or result of a background operation, started by a verb with background. An ended
        one is kept for seven days, but only the last 100 of each user.

        Args:
            id: The operation.

        Takes the scope read.
        """
        return await self._caller.ask("operation.get", {"id": id}, OperationGetResult.from_wire)

    async def list(
        self,
        *,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> OperationListResult:
        """Background operations, the newest first: the caller's own, or every user's for an
        operator, page by page.

        Args:
            limit: Highest number of operations in one answer.
            cursor: next_cursor of the previous page.

        Takes the scope read.
        """
        parameters = {
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("operation.list", parameters, OperationListResult.from_wire)

    async def cancel(self, id: OperationID) -> OperationGetResult:
        """Stops a background operation after its present step; tasks that it has changed stay
        changed. One that has ended is returned unchanged.

        Args:
            id: The operation.

        Takes the scope own.
        """
        return await self._caller.ask("operation.cancel", {"id": id}, OperationGetResult.from_wire)


class AsyncQueueMethods:
    """The methods queue.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def stats(self) -> QueueStatsResult:
        """Counts of tasks by state, present rates, and the queue's limits.

        Takes the scope operate.
        """
        return await self._caller.ask("queue.stats", {}, QueueStatsResult.from_wire)

    async def pause(self, *, running: Maybe[bool] = UNSET) -> QueuePauseResult:
        """Pauses the queue until queue.resume, also across restarts; running transfers continue
        unless running is true.

        Args:
            running: True to return running tasks to the queue with their bytes; tasks that could
                not be continued keep running.

        Takes the scope operate.
        """
        parameters = {
            "running": running,
        }
        return await self._caller.ask("queue.pause", parameters, QueuePauseResult.from_wire)

    async def resume(self, *, now: Maybe[bool] = UNSET) -> QueuePauseResult:
        """Resumes the queue. Tasks that are paused themselves stay paused; with now, waiting ones
        start at once.

        Args:
            now: True to let waiting tasks start now and to end the cooldowns of hosts. Tasks that
                wait for their own conditions (schedule, dependency, lease) and suspects keep
                waiting.

        Takes the scope operate.
        """
        return await self._caller.ask("queue.resume", {"now": now}, QueuePauseResult.from_wire)

    async def set_limits(
        self,
        *,
        max_active: Maybe[Optional[int]] = UNSET,
        max_active_per_host: Maybe[Optional[int]] = UNSET,
        order: Maybe[Optional[QueueOrder]] = UNSET,
        max_recv_rate: Maybe[Optional[int]] = UNSET,
        max_send_rate: Maybe[Optional[int]] = UNSET,
    ) -> QueueSetLimitsResult:
        """Changes limits at once and across restarts; they override the configuration until they
        are set to null.

        Args:
            max_active: Highest number of transfers at once.
            max_active_per_host: Highest number of transfers at once from one host.
            order: Order of a host's tasks: oldest first (fifo) or newest first (lifo).
            max_recv_rate: Bytes per second that all transfers may receive together; 0 is unlimited.
                Also overrides the timetable.
            max_send_rate: Bytes per second that all transfers may send together; 0 is unlimited.
                Also overrides the timetable.

        Takes the scope operate.
        """
        parameters = {
            "max_active": max_active,
            "max_active_per_host": max_active_per_host,
            "order": order,
            "max_recv_rate": max_recv_rate,
            "max_send_rate": max_send_rate,
        }
        return await self._caller.ask("queue.set_limits", parameters, QueueSetLimitsResult.from_wire)

    async def hosts(self) -> QueueHostsResult:
        """Hosts in use now or recently, or with limits of their own: the number of transfers each
        may have at once, and the reason for this limit.

        Takes the scope operate.
        """
        return await self._caller.ask("queue.hosts", {}, QueueHostsResult.from_wire)

    async def set_host(
        self,
        host: str,
        *,
        connections: Maybe[Optional[int]] = UNSET,
        requests_per_minute: Maybe[Optional[int]] = UNSET,
    ) -> QueueSetHostResult:
        """Sets a host's own limits, at once and after restarts, until they are set to null.

        Args:
            host: The host's name as in URLs; with :port unless it is the scheme's default.
            connections: Highest number of connections to it; null returns to the number that xferd
                determines.
            requests_per_minute: Highest number of requests to it that begin within a minute, evenly
                spaced; null is no limit.

        Takes the scope operate.
        """
        parameters = {
            "host": host,
            "connections": connections,
            "requests_per_minute": requests_per_minute,
        }
        return await self._caller.ask("queue.set_host", parameters, QueueSetHostResult.from_wire)


class AsyncBatchMethods:
    """The methods batch.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def add(
        self,
        tasks: Sequence[BatchEntry],
        *,
        options: Maybe[Mapping[str, Any]] = UNSET,
        max_active: Maybe[int] = UNSET,
        atomic: Maybe[bool] = UNSET,
        client_key: Maybe[str] = UNSET,
    ) -> BatchAddResult:
        """Adds up to 10,000 tasks in one transaction as a group with its own concurrency, low
        priority unless set otherwise, and counts them together. An invalid entry is reported
        with its index; the others are added.

        Args:
            tasks: Up to 10,000 URLs or tasks.
            options: Fields of a task, in the form of task.add, for every entry that does not set
                them itself; priority is low unless given.
            max_active: Highest number of its transfers at once, within the queue's limits.
            atomic: True to refuse the whole batch if an entry is invalid.
            client_key: Makes the add safe to repeat: the same key with the same parameters returns
                the batch that exists.

        Takes the scope add.
        """
        parameters = {
            "tasks": tasks,
            "options": options,
            "max_active": max_active,
            "atomic": atomic,
            "client_key": client_key,
        }
        return await self._caller.ask("batch.add", parameters, BatchAddResult.from_wire)

    async def get(self, id: BatchID) -> BatchGetResult:
        """State of a batch. It is known while its members exist, and then as long as finished tasks
        are stored.

        Args:
            id: The batch's id.

        Takes the scope read.
        """
        return await self._caller.ask("batch.get", {"id": id}, BatchGetResult.from_wire)

    async def list(
        self,
        *,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> BatchListResult:
        """Batches, the newest first, page by page: the caller's own, or every user's for an
        operator. A batch is known while its members exist, and then as long as finished tasks
        are stored.

        Args:
            limit: Highest number of batches in one answer.
            cursor: next_cursor of the previous page.

        Takes the scope read.
        """
        parameters = {
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("batch.list", parameters, BatchListResult.from_wire)


class AsyncGroupMethods:
    """The methods group.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> GroupListResult:
        """Groups by owner and name, page by page: the caller's own, or every user's for an
        operator. A group exists while it has tasks or settings.

        Args:
            limit: Highest number of groups in one answer.
            cursor: next_cursor of the previous page.

        Takes the scope read.
        """
        parameters = {
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("group.list", parameters, GroupListResult.from_wire)

    async def get(self, name: str, *, owner: Maybe[Owner] = UNSET) -> GroupGetResult:
        """A group: its settings, and its tasks by state.

        Args:
            name: The group's name.
            owner: Owner of the group, for operators; default is the caller.

        Takes the scope read.
        """
        parameters = {
            "name": name,
            "owner": owner,
        }
        return await self._caller.ask("group.get", parameters, GroupGetResult.from_wire)

    async def set(
        self,
        name: str,
        *,
        owner: Maybe[Owner] = UNSET,
        max_active: Maybe[Optional[int]] = UNSET,
        max_recv_rate: Maybe[Optional[int]] = UNSET,
        max_send_rate: Maybe[Optional[int]] = UNSET,
    ) -> GroupGetResult:
        """Sets a group's own limits, also before it has tasks; they also apply after a restart. The
        queue's limits apply as well. Transfers that exceed a lower limit continue. Operators
        only.

        Args:
            name: The group's name.
            owner: Owner of the group, for operators; default is the caller.
            max_active: Highest number of its transfers at once; null removes the limit.
            max_recv_rate: Bytes per second its transfers may receive together; null removes the
                limit.
            max_send_rate: Bytes per second its transfers may send together; null removes the limit.

        Takes the scope operate.
        """
        parameters = {
            "name": name,
            "owner": owner,
            "max_active": max_active,
            "max_recv_rate": max_recv_rate,
            "max_send_rate": max_send_rate,
        }
        return await self._caller.ask("group.set", parameters, GroupGetResult.from_wire)

    async def pause(
        self,
        name: str,
        *,
        owner: Maybe[Owner] = UNSET,
        running: Maybe[bool] = UNSET,
    ) -> GroupGetResult:
        """Pauses a group until group.resume, also across restarts and for tasks that are added
        later. Its tasks stay queued; running transfers continue unless running is true.

        Args:
            name: The group's name.
            owner: Owner of the group, for operators; default is the caller.
            running: True to return running tasks to the queue with their bytes; tasks that could
                not be continued keep running.

        Takes the scope own.
        """
        parameters = {
            "name": name,
            "owner": owner,
            "running": running,
        }
        return await self._caller.ask("group.pause", parameters, GroupGetResult.from_wire)

    async def resume(self, name: str, *, owner: Maybe[Owner] = UNSET) -> GroupGetResult:
        """Resumes a group. Tasks that are paused themselves stay paused.

        Args:
            name: The group's name.
            owner: Owner of the group, for operators; default is the caller.

        Takes the scope own.
        """
        parameters = {
            "name": name,
            "owner": owner,
        }
        return await self._caller.ask("group.resume", parameters, GroupGetResult.from_wire)

    async def remove(self, name: str, *, owner: Maybe[Owner] = UNSET) -> GroupRemoveResult:
        """Removes the settings of a group: its limit and its pause. Its tasks stay in it; the group
        exists as long as it has tasks. Operators only.

        Args:
            name: The group's name.
            owner: Owner of the group, for operators; default is the caller.

        Takes the scope operate.
        """
        parameters = {
            "name": name,
            "owner": owner,
        }
        return await self._caller.ask("group.remove", parameters, GroupRemoveResult.from_wire)


class AsyncSlotMethods:
    """The methods slot.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def get(self, slot: str) -> SlotGetResult:
        """The task in one of the caller's slots.

        Args:
            slot: The slot's name; every owner has slots of its own.

        Takes the scope read.
        """
        return await self._caller.ask("slot.get", {"slot": slot}, SlotGetResult.from_wire)

    async def detach(self, slot: str) -> SlotGetResult:
        """Removes the task from one of the caller's slots; the task continues, and a later task of
        the slot does not cancel it.

        Args:
            slot: The slot's name; every owner has slots of its own.

        Takes the scope own.
        """
        return await self._caller.ask("slot.detach", {"slot": slot}, SlotGetResult.from_wire)

    async def cancel(self, slot: str) -> SlotGetResult:
        """Cancels the task in one of the caller's slots, as task.cancel does.

        Args:
            slot: The slot's name; every owner has slots of its own.

        Takes the scope own.
        """
        return await self._caller.ask("slot.cancel", {"slot": slot}, SlotGetResult.from_wire)


class AsyncCacheMethods:
    """The methods cache.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def stats(self) -> CacheStatsResult:
        """Size and limits of the cache: the caller's part, or every user's for an operator.

        Takes the scope read.
        """
        return await self._caller.ask("cache.stats", {}, CacheStatsResult.from_wire)

    async def list(
        self,
        *,
        order: Maybe[ListOrder] = UNSET,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> CacheListResult:
        """Cached responses: the caller's own, or every user's for an operator, page by page.

        Args:
            order: Order by the time of storing: newest first (desc) or oldest first (asc).
            limit: Highest number of entries in one answer.
            cursor: next_cursor of the previous page; the order must be the same.

        Takes the scope read.
        """
        parameters = {
            "order": order,
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("cache.list", parameters, CacheListResult.from_wire)

    async def get(self, id: CacheEntryID) -> CacheGetResult:
        """A cached response with its header fields, without its content.

        Args:
            id: The entry's id.

        Takes the scope read.
        """
        return await self._caller.ask("cache.get", {"id": id}, CacheGetResult.from_wire)

    async def put(
        self,
        url: str,
        *,
        file: Maybe[str] = UNSET,
        base64: Maybe[str] = UNSET,
        checksum: Maybe[str] = UNSET,
        max_age: Maybe[int] = UNSET,
        content_type: Maybe[str] = UNSET,
        cache_key: Maybe[CacheKey] = UNSET,
    ) -> CacheGetResult:
        """Stores the caller's content as the response to a plain GET of a URL. The caller's tasks
        whose cache_policy uses the cache get it without a request. It replaces the URL's cached
        response, and is durable when the call returns. Over the network only with a token of the
        scope operate.

        Args:
            url: An absolute http or https URL; its host must not have a trust policy.
            file: Absolute path of a file, which is copied.
            base64: In place of file: the content itself.
            checksum: The digest that the content must have, in the forms of task.add; otherwise
                nothing is stored.
            max_age: Seconds for which the cache_policy protocol uses it without a request; default
                86400, a day. prefer_cache and only_if_cached use it afterwards, too.
            content_type: Its media type; default is none.
            cache_key: The cache_key of the tasks that are to use it: a text, or the parts of the
                URL to ignore.

        Takes the scope own.
        """
        parameters = {
            "url": url,
            "file": file,
            "base64": base64,
            "checksum": checksum,
            "max_age": max_age,
            "content_type": content_type,
            "cache_key": cache_key,
        }
        return await self._caller.ask("cache.put", parameters, CacheGetResult.from_wire)

    async def remove(
        self,
        *,
        ids: Maybe[Sequence[CacheEntryID]] = UNSET,
        url: Maybe[str] = UNSET,
    ) -> CacheRemoveResult:
        """Removes cached responses by their ids, or all of a URL, so that they are fetched again:
        the caller's own, or every user's for an operator.

        Args:
            ids: The entries' ids.
            url: An absolute http or https URL, secrets included, that was requested or that sent
                the response.

        Takes the scope own.
        """
        parameters = {
            "ids": ids,
            "url": url,
        }
        return await self._caller.ask("cache.remove", parameters, CacheRemoveResult.from_wire)

    async def clear(self) -> CacheClearResult:
        """Removes all cached responses; operators only.

        Takes the scope operate.
        """
        return await self._caller.ask("cache.clear", {}, CacheClearResult.from_wire)

    async def trim(
        self,
        *,
        max_bytes: Maybe[int] = UNSET,
        max_age: Maybe[int] = UNSET,
    ) -> CacheClearResult:
        """Applies the cache's limits now, or lower ones this time only: responses not used for
        max_age are removed; if there is more than max_bytes, the least recently used are removed
        until it is under half of that. Operators only.

        Args:
            max_bytes: Bytes of all contents; above this, responses are removed until at most half
                of it is left.
            max_age: Seconds since the last use.

        Takes the scope operate.
        """
        parameters = {
            "max_bytes": max_bytes,
            "max_age": max_age,
        }
        return await self._caller.ask("cache.trim", parameters, CacheClearResult.from_wire)


class AsyncFailedUrlMethods:
    """The methods failed_url.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        order: Maybe[ListOrder] = UNSET,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> FailedURLListResult:
        """Permanently failed URLs, refused for a while: adds fail at once with blocked_url unless
        retry_failed is set. The caller's own, or every user's for an operator, page by page.

        Args:
            order: Order by the time of the failure: newest first (desc) or oldest first (asc).
            limit: Highest number of entries in one answer.
            cursor: next_cursor of the previous page; the order must be the same.

        Takes the scope read.
        """
        parameters = {
            "order": order,
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("failed_url.list", parameters, FailedURLListResult.from_wire)

    async def remove(
        self,
        *,
        ids: Maybe[Sequence[FailedURLID]] = UNSET,
        url: Maybe[str] = UNSET,
    ) -> FailedURLRemoveResult:
        """Removes entries by their ids, or all for a URL, so that it may be requested again: the
        caller's own, or every user's for an operator.

        Args:
            ids: The entries' ids.
            url: An absolute http or https URL as it was added, secrets included.

        Takes the scope own.
        """
        parameters = {
            "ids": ids,
            "url": url,
        }
        return await self._caller.ask("failed_url.remove", parameters, FailedURLRemoveResult.from_wire)

    async def clear(self) -> FailedURLClearResult:
        """Removes all entries: the caller's own, or every user's for an operator.

        Takes the scope own.
        """
        return await self._caller.ask("failed_url.clear", {}, FailedURLClearResult.from_wire)


class AsyncPolicyMethods:
    """The methods policy.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> PolicyListResult:
        """All trust policies by name, the default among them.

        Args:
            limit: Highest number of elements in one answer.
            cursor: next_cursor of the previous page.

        Takes the scope operate.
        """
        parameters = {
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("policy.list", parameters, PolicyListResult.from_wire)

    async def get(self, name: str) -> PolicyGetResult:
        """One trust policy.

        Args:
            name: The policy's name.

        Takes the scope operate.
        """
        return await self._caller.ask("policy.get", {"name": name}, PolicyGetResult.from_wire)

    async def set(self, policy: PolicyInput) -> PolicyGetResult:
        """Writes a trust policy, replacing the one of that name. Connections judged by the earlier
        version are closed; tasks that use them stop at the next safe point and are judged again.

        Args:
            policy: The whole policy: fields left unset have their defaults.

        Takes the scope operate.
        """
        return await self._caller.ask("policy.set", {"policy": policy}, PolicyGetResult.from_wire)

    async def remove(self, name: str) -> Done:
        """Removes a trust policy: its hosts are judged by the next less specific one. Refused with
        in_use while an unfinished task refers to it.

        Args:
            name: The policy's name.

        Takes the scope operate.
        """
        return await self._caller.ask("policy.remove", {"name": name}, Done.from_wire)

    async def test(self, url: str, *, policy: Maybe[str] = UNSET) -> ServerReportRecord:
        """Performs a handshake with a URL's server and returns its judgement by the policies that
        apply to a task; requests nothing.

        Args:
            url: An absolute https URL.
            policy: A policy that must accept the server in addition to the host's.

        Takes the scope operate.
        """
        parameters = {
            "url": url,
            "policy": policy,
        }
        return await self._caller.ask("policy.test", parameters, ServerReportRecord.from_wire)

    async def pin(self, host: str, *, port: Maybe[int] = UNSET) -> ServerReportRecord:
        """Returns a server's certificates and the result of the ordinary check. Pinning trusts this
        one connection.

        Args:
            host: A host name or an IP address.
            port: Its port.

        Takes the scope operate.
        """
        parameters = {
            "host": host,
            "port": port,
        }
        return await self._caller.ask("policy.pin", parameters, ServerReportRecord.from_wire)


class AsyncProfileMethods:
    """The methods profile.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> ProfileListResult:
        """All profiles by name; their secrets are ***.

        Args:
            limit: Highest number of elements in one answer.
            cursor: next_cursor of the previous page.

        Takes the scope operate.
        """
        parameters = {
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("profile.list", parameters, ProfileListResult.from_wire)

    async def get(self, name: str) -> ProfileGetResult:
        """One profile. Its secrets are ***, or the places that they are read from.

        Args:
            name: The profile's name.

        Takes the scope operate.
        """
        return await self._caller.ask("profile.get", {"name": name}, ProfileGetResult.from_wire)

    async def set(self, profile: ProfileInput) -> ProfileGetResult:
        """Writes a profile, replacing the one of that name. Existing tasks keep the values that
        they got from it; only its credential, client certificate and cookies are looked up by
        its name at every attempt.

        Args:
            profile: The whole profile: fields left unset are removed.

        Takes the scope operate.
        """
        parameters = {
            "profile": profile,
        }
        return await self._caller.ask("profile.set", parameters, ProfileGetResult.from_wire)

    async def remove(self, name: str) -> Done:
        """Removes a profile and its cookies. Tasks that use its defaults continue, unless they use
        its credential: their next attempt fails with credential_missing.

        Args:
            name: The profile's name.

        Takes the scope operate.
        """
        return await self._caller.ask("profile.remove", {"name": name}, Done.from_wire)


class AsyncHookMethods:
    """The methods hook.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> HookListResult:
        """The commands that tasks can refer to, by name. They are defined in the configuration
        file.

        Args:
            limit: Highest number of elements in one answer.
            cursor: next_cursor of the previous page.

        Takes the scope operate.
        """
        parameters = {
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("hook.list", parameters, HookListResult.from_wire)


class AsyncWebhookMethods:
    """The methods webhook.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> WebhookListResult:
        """The receivers of events, by name, with the state of their deliveries. They are defined in
        the configuration file.

        Args:
            limit: Highest number of elements in one answer.
            cursor: next_cursor of the previous page.

        Takes the scope operate.
        """
        parameters = {
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("webhook.list", parameters, WebhookListResult.from_wire)

    async def test(self, name: str) -> WebhookTestResult:
        """Sends an event of the type webhook.test to a receiver at once, signed like a delivery,
        and answers with the result. It is sent once and is not stored.

        Args:
            name: Its name.

        Takes the scope operate.
        """
        return await self._caller.ask("webhook.test", {"name": name}, WebhookTestResult.from_wire)


class AsyncHstsMethods:
    """The methods hsts.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> StrictTransportListResult:
        """The hosts that have demanded https (RFC 6797), by name: their http URLs are not requested
        without encryption.

        Args:
            limit: Highest number of elements in one answer.
            cursor: next_cursor of the previous page.

        Takes the scope operate.
        """
        parameters = {
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("hsts.list", parameters, StrictTransportListResult.from_wire)

    async def clear(self, *, hosts: Maybe[Sequence[str]] = UNSET) -> StrictTransportClearResult:
        """Removes hosts that have demanded https, until they demand it again: their http URLs are
        requested unchanged.

        Args:
            hosts: Their names; default is all.

        Takes the scope operate.
        """
        parameters = {
            "hosts": hosts,
        }
        return await self._caller.ask("hsts.clear", parameters, StrictTransportClearResult.from_wire)


class AsyncEventsMethods:
    """The methods events.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def since(
        self,
        seq: int,
        *,
        types: Maybe[Union[EventName, Sequence[EventName]]] = UNSET,
        task_ids: Maybe[Union[TaskID, Sequence[TaskID]]] = UNSET,
        limit: Maybe[int] = UNSET,
    ) -> EventsSinceResult:
        """Durable events after a sequence number, oldest first.

        Args:
            seq: Events after this sequence number; 0 is all stored events.
            types: Types of events; default all.
            task_ids: Only events about these tasks; default all.
            limit: Highest number of events in one answer. A page also ends at 1 MiB, or after
                10,000 numbers: it may have fewer events, even none, although last_seq is above seq.

        Takes the scope read.
        """
        parameters = {
            "seq": seq,
            "types": types,
            "task_ids": task_ids,
            "limit": limit,
        }
        return await self._caller.ask("events.since", parameters, decode_events_since_result)


class AsyncNetworkMethods:
    """The methods network.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def status(self, *, host: Maybe[str] = UNSET) -> NetworkStatusResult:
        """State of the network, and the route to an address. No packet is sent, and no name is
        looked up.

        Args:
            host: An IPv4 or IPv6 address. A name gets no route: it is not looked up.

        Takes the scope read.
        """
        parameters = {
            "host": host,
        }
        return await self._caller.ask("network.status", parameters, NetworkStatusResult.from_wire)


class AsyncTokenMethods:
    """The methods token.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def add(
        self,
        name: str,
        scope: TokenScope,
        *,
        user: Maybe[str] = UNSET,
        expires_at: Maybe[Time] = UNSET,
        dir: Maybe[str] = UNSET,
    ) -> TokenAddResult:
        """Creates a token for clients on the network. It is returned once; xferd stores only its
        hash. Only over the Unix socket.

        Args:
            name: Unique name by which it is listed and revoked.
            scope: Rights of the token, within the rights of its user.
            user: User the token acts for: a name or a decimal uid; default is the caller.
            expires_at: Expiry; default is never.
            dir: With the scope add or own: the directory beneath which its tasks write; default is
                download.dir.

        Takes the scope operate.
        """
        parameters = {
            "name": name,
            "scope": scope,
            "user": user,
            "expires_at": expires_at,
            "dir": dir,
        }
        return await self._caller.ask("token.add", parameters, TokenAddResult.from_wire)

    async def list(
        self,
        *,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> TokenListResult:
        """The tokens by name, expired ones too, without the tokens themselves.

        Args:
            limit: Highest number of elements in one answer.
            cursor: next_cursor of the previous page.

        Takes the scope operate.
        """
        parameters = {
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("token.list", parameters, TokenListResult.from_wire)

    async def revoke(self, name: str) -> Done:
        """Revokes a token: it is refused at once, and its connections and streams are closed. Only
        over the Unix socket.

        Args:
            name: Its name.

        Takes the scope operate.
        """
        return await self._caller.ask("token.revoke", {"name": name}, Done.from_wire)


class AsyncLeaseMethods:
    """The methods lease.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def renew(self, name: str, until: float) -> LeaseRenewResult:
        """Sets the time until which tasks with this lease may run. Then they stop, keep their
        bytes, publish nothing and wait; after a restart, the daemon has no lease until the next
        call.

        Args:
            name: Name with which tasks refer to it.
            until: Seconds of CLOCK_BOOTTIME (clock_gettime(2)) of the daemon's machine; a time in
                the past ends the lease.

        Takes the scope operate.
        """
        parameters = {
            "name": name,
            "until": until,
        }
        return await self._caller.ask("lease.renew", parameters, LeaseRenewResult.from_wire)


class AsyncDaemonMethods:
    """The methods daemon.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def status(self) -> DaemonStatusResult:
        """Identity and health of the daemon.

        Takes the scope read.
        """
        return await self._caller.ask("daemon.status", {}, DaemonStatusResult.from_wire)

    async def config(self) -> DaemonConfigResult:
        """Every setting with its value and the value's origin. Operators only.

        Takes the scope operate.
        """
        return await self._caller.ask("daemon.config", {}, DaemonConfigResult.from_wire)

    async def backup(self, file: str) -> DaemonBackupResult:
        """Writes a consistent copy of the database into a new file on the daemon's machine, with
        mode 0600, while everything continues. xferd --restore reads it. Operators only.

        Args:
            file: Absolute path of a file that does not exist, in a directory that the daemon can
                write to.

        Takes the scope operate.
        """
        return await self._caller.ask("daemon.backup", {"file": file}, DaemonBackupResult.from_wire)

    async def shutdown(self, *, mode: Maybe[ShutdownMode] = UNSET) -> DaemonShutdownResult:
        """Stops the daemon, after answering: suspend checkpoints and stops at once, drain finishes
        running tasks and refuses adds, cancel cancels every unfinished task. Operators only.

        Args:
            mode: Treatment of unfinished tasks.

        Takes the scope operate.
        """
        parameters = {
            "mode": mode,
        }
        return await self._caller.ask("daemon.shutdown", parameters, DaemonShutdownResult.from_wire)


class AsyncRpcMethods:
    """The methods rpc.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def discover(self) -> Dict[str, Any]:
        """The OpenRPC document that describes every method, event and error.

        Takes the scope read.
        """
        return await self._caller.ask("rpc.discover", {}, as_object)


class AsyncFleetMethods:
    """The methods fleet.*"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def status(self) -> FleetStatusResult:
        """Identity of the fleet, the number of its tasks in each state, and the health of this
        node. Answered by xfer-fleet.

        Takes the scope read.
        """
        return await self._caller.ask("fleet.status", {}, FleetStatusResult.from_wire)

    async def nodes(
        self,
        *,
        limit: Maybe[int] = UNSET,
        cursor: Maybe[str] = UNSET,
    ) -> FleetNodesResult:
        """All nodes, by name, with the number of their tasks. Answered by xfer-fleet.

        Args:
            limit: Highest number of elements in one answer.
            cursor: next_cursor of the previous page.

        Takes the scope read.
        """
        parameters = {
            "limit": limit,
            "cursor": cursor,
        }
        return await self._caller.ask("fleet.nodes", parameters, FleetNodesResult.from_wire)

    async def add(self, place: str, tasks: Sequence[NewTask]) -> TaskAddMany:
        """Adds up to 10,000 tasks for certain nodes, in one transaction. task.add adds them for any
        node, uploads for the node that is called. Answered by xfer-fleet.

        Args:
            place: Nodes that may run them.
            tasks: The tasks, all or none.

        Takes the scope add.
        """
        parameters = {
            "place": place,
            "tasks": tasks,
        }
        return await self._caller.ask("fleet.add", parameters, TaskAddMany.from_wire)

    async def move(self, ids: Sequence[TaskID], place: str) -> SelectionResultListed:
        """Changes which nodes may run tasks. A task that a node has claimed is returned first;
        bytes it has received stay on that node and are not used again. Answered by xfer-fleet.

        Args:
            ids: The tasks.
            place: Nodes that may run them from now on.

        Takes the scope own.
        """
        parameters = {
            "ids": ids,
            "place": place,
        }
        return await self._caller.ask("fleet.move", parameters, SelectionResultListed.from_wire)

    async def drain(self, node: str) -> FleetDrainResult:
        """Drains a node: it finishes its tasks and claims no new ones, also after restarts. When it
        has none, it may be stopped. Answered by xfer-fleet.

        Args:
            node: The node's name.

        Takes the scope operate.
        """
        return await self._caller.ask("fleet.drain", {"node": node}, FleetDrainResult.from_wire)

    async def undrain(self, node: str) -> FleetDrainResult:
        """Lets a drained node claim tasks again. Answered by xfer-fleet.

        Args:
            node: The node's name.

        Takes the scope operate.
        """
        return await self._caller.ask("fleet.undrain", {"node": node}, FleetDrainResult.from_wire)

    async def forget(self, node: str, *, confirm: Maybe[bool] = UNSET) -> FleetForgetResult:
        """Removes a node that is permanently lost. Without confirm it only returns the effects on
        its tasks: those for any node are queued again, unfinished ones for it alone fail. Its
        partial files on shared storages are removed where this node has them mounted. A live
        node is not removed. Answered by xfer-fleet.

        Args:
            node: The node's name.
            confirm: True to remove the node; false only returns the effects.

        Takes the scope operate.
        """
        parameters = {
            "node": node,
            "confirm": confirm,
        }
        return await self._caller.ask("fleet.forget", parameters, FleetForgetResult.from_wire)

    async def limit(self, host: str, max_active: Optional[int]) -> Done:
        """Sets an exact limit on one host's tasks that all nodes together may run. Answered by
        xfer-fleet.

        Args:
            host: The host's name as in URLs.
            max_active: Highest number of tasks at a time; null is no limit.

        Takes the scope operate.
        """
        parameters = {
            "host": host,
            "max_active": max_active,
        }
        return await self._caller.ask("fleet.limit", parameters, Done.from_wire)


class AsyncMethods:
    """Every method of the daemon, by its namespace: `task.list` is `client.task.list()`."""

    def __init__(self, caller: AsyncCaller) -> None:
        self.task = AsyncTaskMethods(caller)
        self.operation = AsyncOperationMethods(caller)
        self.queue = AsyncQueueMethods(caller)
        self.batch = AsyncBatchMethods(caller)
        self.group = AsyncGroupMethods(caller)
        self.slot = AsyncSlotMethods(caller)
        self.cache = AsyncCacheMethods(caller)
        self.failed_url = AsyncFailedUrlMethods(caller)
        self.policy = AsyncPolicyMethods(caller)
        self.profile = AsyncProfileMethods(caller)
        self.hook = AsyncHookMethods(caller)
        self.webhook = AsyncWebhookMethods(caller)
        self.hsts = AsyncHstsMethods(caller)
        self.events = AsyncEventsMethods(caller)
        self.network = AsyncNetworkMethods(caller)
        self.token = AsyncTokenMethods(caller)
        self.lease = AsyncLeaseMethods(caller)
        self.daemon = AsyncDaemonMethods(caller)
        self.rpc = AsyncRpcMethods(caller)
        self.fleet = AsyncFleetMethods(caller)
