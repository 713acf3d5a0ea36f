-- The schema of 1.0.0-rc.1, the first release: that of version 20.
--
-- Each statement is as databases of that release have it in sqlite_schema, to the last space: never edit one. Columns
-- behind a comma at the start of a line were added to an older table.

-- The steps that were taken. Number 0 is the seal of the schema (`SchemaSeal`).
CREATE TABLE migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at TEXT NOT NULL DEFAULT (datetime())
) STRICT;

-- One row: the database's id, and the key of the digests that tell requests apart.
CREATE TABLE store (id TEXT NOT NULL, digest_key BLOB) STRICT;
INSERT INTO store (id, digest_key) VALUES (lower(hex(randomblob(16))), randomblob(32));

-- Settings that were changed over RPC, and the state of the queue.
CREATE TABLE setting (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The kept bytes of tasks and what is known of their version.
-- `source` is the position of the described source among the task's sources, `senders` has a bit for each that sent
-- bytes: 0 and 1 where there is only one. `needs_digest`: only a digest shows that all bytes are of one version.
-- `suspects` has a bit for each source with a part in bytes whose digest was wrong, `condemned` for each that sent all
-- of them.
-- `part_…` is the file with the committed bytes. Length and time are null while it may be written to. All are null
-- before the first checkpoint. `publish_…` is the file that is being published.
CREATE TABLE transfer (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    directory TEXT NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    etag TEXT,
    last_modified TEXT,
    date TEXT,
    total_length INTEGER,
    content_encoding TEXT,
    final_url TEXT,
    selecting_headers TEXT,
    publish_name TEXT,
    publish_device INTEGER,
    publish_inode INTEGER,
    created_at INTEGER NOT NULL,
    -- The beginning of the id of the database that made it: part of the partial file's name.
    tag TEXT NOT NULL
, source INTEGER NOT NULL DEFAULT 0, senders INTEGER NOT NULL DEFAULT 1, needs_digest INTEGER NOT NULL DEFAULT 0, suspects INTEGER NOT NULL DEFAULT 0, condemned INTEGER NOT NULL DEFAULT 0, part_device INTEGER, part_inode INTEGER, part_born_at INTEGER, part_generation INTEGER, part_length INTEGER, part_modified_at INTEGER, publish_born_at INTEGER, publish_generation INTEGER, publish_length INTEGER, publish_modified_at INTEGER, publish_changed_at INTEGER, publish_digest TEXT) STRICT;
CREATE INDEX transfer_publishing ON transfer (id) WHERE publish_name IS NOT NULL;

-- The committed ranges of a transfer.
CREATE TABLE segment (
    transfer_id INTEGER NOT NULL REFERENCES transfer (id) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    "end" INTEGER,
    committed INTEGER NOT NULL,
    PRIMARY KEY (transfer_id, start)
) STRICT, WITHOUT ROWID;

-- Columns are read by position (`TaskColumn`): new ones go to the end. Times are microseconds since 1970.
-- `policy` and `profile` are names. `coalesce_key`: tasks with equal keys may share a transfer; null never shares.
-- `group_id` is a row of queue_group, 0 is none; the lanes of the scheduler are kept apart by it.
-- No foreign key on `transfer_id`: with one, SQLite copies every page that a statement touches. Code that deletes a
-- transfer removes it from its tasks.
CREATE TABLE task (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    wait_reason TEXT,
    wait_until INTEGER,
    priority INTEGER NOT NULL,
    host TEXT NOT NULL,
    group_name TEXT,
    label TEXT,
    -- Set by a move; the index takes the rank an untouched task has from its id.
    moved_rank INTEGER,
    rank INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(moved_rank, id << 20)) VIRTUAL,
    client_key TEXT,
    -- Of what the add with that key asked for.
    fingerprint INTEGER,
    transfer_id INTEGER,
    received INTEGER NOT NULL DEFAULT 0,
    total INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    last_progress_at INTEGER,
    url TEXT NOT NULL,
    directory TEXT NOT NULL,
    name TEXT,
    checksum TEXT,
    options TEXT,
    meta TEXT,
    error_reason TEXT,
    error TEXT,
    final_path TEXT,
    final_url TEXT,
    http_status INTEGER,
    etag TEXT,
    content_encoding TEXT,
    skipped INTEGER NOT NULL DEFAULT 0,
    not_modified INTEGER NOT NULL DEFAULT 0,
    response_headers TEXT,
    -- The furthest committed offset ever: going past it is progress.
    furthest INTEGER NOT NULL DEFAULT 0,
    directory_device INTEGER,
    directory_inode INTEGER
, policy TEXT, sent INTEGER NOT NULL DEFAULT 0, profile TEXT, slot TEXT, coalesce_key BLOB, group_id INTEGER NOT NULL DEFAULT 0, batch_id INTEGER) STRICT;
CREATE INDEX task_state ON task (state);
CREATE INDEX task_owner ON task (owner);
CREATE INDEX task_host ON task (host);
CREATE INDEX task_group ON task (group_name) WHERE group_name IS NOT NULL;
CREATE INDEX task_label ON task (label) WHERE label IS NOT NULL;
CREATE UNIQUE INDEX task_client_key ON task (owner, client_key) WHERE client_key IS NOT NULL;
CREATE INDEX task_timer ON task (wait_until) WHERE wait_until IS NOT NULL;
CREATE INDEX task_wait ON task (wait_reason) WHERE wait_reason IS NOT NULL;
CREATE INDEX task_transfer ON task (transfer_id) WHERE transfer_id IS NOT NULL;
-- For a list of three states SQLite would make a table at each change of a task.
CREATE INDEX task_finished ON task (finished_at) WHERE state = 'completed' OR state = 'failed' OR state = 'cancelled';
CREATE INDEX task_published ON task (final_path) WHERE state = 'completed' AND final_path IS NOT NULL;
CREATE INDEX task_keeping_bytes ON task (finished_at) WHERE state = 'failed' AND transfer_id IS NOT NULL;
CREATE INDEX task_policy ON task (policy)
    WHERE policy IS NOT NULL AND state NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX task_profile ON task (profile)
    WHERE profile IS NOT NULL AND state NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX task_slot ON task (slot) WHERE slot IS NOT NULL;
-- The tasks that occupy a slot.
CREATE INDEX task_in_slot ON task (owner, slot)
    WHERE slot IS NOT NULL AND state NOT IN ('completed', 'failed', 'cancelled');
-- Tasks that may join a transfer that runs.
CREATE INDEX task_coalescing ON task (coalesce_key, id) WHERE coalesce_key IS NOT NULL AND state = 'queued';
-- Tasks whose bytes a new one may continue.
CREATE INDEX task_sharing ON task (coalesce_key) WHERE coalesce_key IS NOT NULL AND transfer_id IS NOT NULL;
CREATE INDEX task_group_id ON task (group_id) WHERE group_id <> 0;
CREATE INDEX task_batch ON task (batch_id) WHERE batch_id IS NOT NULL;
CREATE INDEX task_queue ON task (priority, group_id, profile, host, rank) WHERE state = 'queued';
-- Finds waits that end too late without reading those that do not, or that have no end.
CREATE INDEX task_wait_end ON task (wait_reason, wait_until) WHERE wait_until IS NOT NULL;

-- Hosts that get no request before a time.
CREATE TABLE host_cooldown (
    host TEXT NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX cooldown_until ON host_cooldown (until);

-- Owner -1: the tasks of all owners; group_name '': the tasks of all groups and of none.
CREATE TABLE task_count (
    owner INTEGER NOT NULL,
    group_name TEXT NOT NULL,
    state TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (owner, group_name, state)
) STRICT, WITHOUT ROWID;

-- Names in a directory that tasks will publish.
CREATE TABLE reservation (
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    name TEXT NOT NULL,
    task_id INTEGER NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    PRIMARY KEY (device, inode, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX reservation_task ON reservation (task_id);

CREATE TABLE event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    time INTEGER NOT NULL,
    type TEXT NOT NULL,
    task_id INTEGER,
    owner INTEGER,
    payload TEXT NOT NULL
) STRICT;
CREATE INDEX event_task ON event (task_id) WHERE task_id IS NOT NULL;

-- AUTOINCREMENT: a version is never given twice, not even after its policy was removed.
CREATE TABLE policy (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    -- Written in the configuration file, not over RPC.
    is_configured INTEGER NOT NULL,
    policy TEXT NOT NULL,
    -- Days before its expiry of the last warning that was given.
    warned INTEGER
) STRICT;

-- Beside the task's row, because it may be megabytes and listings never read it.
CREATE TABLE request_body (
    task_id INTEGER PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    body TEXT NOT NULL
) STRICT;

-- A response that was kept: its content here, or in a file of the spool directory when it is large.
CREATE TABLE task_result (
    task_id INTEGER PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    length INTEGER NOT NULL,
    content BLOB,
    file_name TEXT,
    object TEXT
, kept_at INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX task_result_file ON task_result (file_name) WHERE file_name IS NOT NULL;
CREATE INDEX task_result_kept ON task_result (kept_at);

-- The resource of an upload on its server.
CREATE TABLE upload (
    transfer_id INTEGER PRIMARY KEY REFERENCES transfer (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    "offset" INTEGER NOT NULL,
    expires_at INTEGER,
    largest_append INTEGER
) STRICT;

CREATE TABLE profile (
    name TEXT PRIMARY KEY,
    -- Written in the configuration file, not over RPC.
    is_configured INTEGER NOT NULL,
    profile TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per cookie (RFC 6265 §5.3), in libcurl's text form.
CREATE TABLE cookie (
    profile TEXT NOT NULL,
    domain TEXT NOT NULL,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (profile, domain, path, name)
) STRICT, WITHOUT ROWID;

-- The servers that sent kept bytes, to judge them again when trust policies have changed. None where only the built-in
-- default policy judged and no run has ended since.
CREATE TABLE transfer_source (
    id INTEGER PRIMARY KEY,
    transfer_id INTEGER NOT NULL REFERENCES transfer (id) ON DELETE CASCADE,
    scheme TEXT NOT NULL,
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    -- Certificates the server showed: DER as base64, leaf first, with spaces between.
    chain TEXT NOT NULL,
    tls TEXT,
    -- Versions of the policies that believed it.
    judgement TEXT NOT NULL
) STRICT;
CREATE INDEX transfer_source_transfer ON transfer_source (transfer_id);

-- A file of the spool directory that a task sends in place of the one its client named.
CREATE TABLE spooled_source (
    name TEXT PRIMARY KEY,
    task_id INTEGER NOT NULL REFERENCES task (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX spooled_source_task ON spooled_source (task_id);

-- Uploads of cancelled tasks that their servers still have to delete. The tasks may be removed meanwhile: the columns
-- from owner on are as those of task.
CREATE TABLE abandoned_upload (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id INTEGER NOT NULL,
    -- The upload resource on its server.
    upload_url TEXT NOT NULL,
    abandoned_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_try_at INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    url TEXT NOT NULL,
    options TEXT,
    policy TEXT,
    profile TEXT,
    UNIQUE (task_id, upload_url)
) STRICT;
CREATE INDEX abandoned_upload_next ON abandoned_upload (next_try_at);

-- URLs that failed permanently. AUTOINCREMENT: ids tell which failed last, and an id that was removed never means
-- another URL.
CREATE TABLE failed_url (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Digest of the coalesce key.
    key BLOB NOT NULL UNIQUE,
    -- Digest of the URL alone.
    url_digest BLOB NOT NULL,
    -- Redacted.
    url TEXT NOT NULL,
    method TEXT NOT NULL,
    owner INTEGER NOT NULL,
    task_id INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX failed_url_owner ON failed_url (owner);
CREATE INDEX failed_url_digest ON failed_url (url_digest);
CREATE INDEX failed_url_time ON failed_url (failed_at);

-- Cached responses. Their content is in the cache directory. AUTOINCREMENT: an id that was removed never means another
-- response.
CREATE TABLE cache_entry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Digest of the cache key; several rows where responses vary.
    key BLOB NOT NULL,
    -- Digests of the URLs alone, to find what a change makes doubtful.
    url_digest BLOB NOT NULL,
    final_url_digest BLOB NOT NULL,
    owner INTEGER NOT NULL,
    -- Name of the file with the content, as it was received.
    blob TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status INTEGER NOT NULL,
    -- Header fields, JSON.
    fields TEXT,
    -- The request fields that Vary names, values as digests, JSON.
    variant TEXT,
    request_time INTEGER NOT NULL,
    response_time INTEGER NOT NULL,
    -- Of the content: bytes, and SHA-256.
    length INTEGER NOT NULL,
    digest BLOB NOT NULL,
    stored_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX cache_entry_key ON cache_entry (key);
CREATE INDEX cache_entry_url ON cache_entry (url_digest);
CREATE INDEX cache_entry_final_url ON cache_entry (final_url_digest);
CREATE INDEX cache_entry_owner ON cache_entry (owner, id, length);
CREATE INDEX cache_entry_used ON cache_entry (last_used_at, length);

-- The servers that sent a cached response, as transfer_source.
CREATE TABLE cache_source (
    id INTEGER PRIMARY KEY,
    entry_id INTEGER NOT NULL REFERENCES cache_entry (id) ON DELETE CASCADE,
    scheme TEXT NOT NULL,
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    chain TEXT NOT NULL,
    tls TEXT,
    judgement TEXT NOT NULL
) STRICT;
CREATE INDEX cache_source_entry ON cache_source (entry_id);

-- Staged files. The row goes with its transfer, not with its task: the file has to be found after the task was
-- removed.
CREATE TABLE ready_file (
    task_id INTEGER PRIMARY KEY,
    transfer_id INTEGER NOT NULL REFERENCES transfer (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    final_name TEXT NOT NULL,
    is_processed INTEGER NOT NULL,
    -- Null while a hook works on it.
    device INTEGER,
    inode INTEGER,
    length INTEGER,
    modified_at INTEGER,
    changed_at INTEGER,
    digest TEXT
, born_at INTEGER, generation INTEGER) STRICT;
CREATE INDEX ready_file_transfer ON ready_file (transfer_id);

-- The facts by which a task's published file is recognised.
CREATE TABLE published_file (
    task_id INTEGER PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    length INTEGER NOT NULL,
    version TEXT NOT NULL
, born_at INTEGER, generation INTEGER, modified_at INTEGER) STRICT;

-- The bytes a transfer has: those that `origin`, a transfer's id, received after it discarded others `number` times.
-- A transfer without a row is its own origin and has discarded none.
CREATE TABLE transfer_version (
    transfer_id INTEGER PRIMARY KEY REFERENCES transfer (id) ON DELETE CASCADE,
    origin INTEGER NOT NULL,
    number INTEGER NOT NULL
) STRICT;

-- AUTOINCREMENT: a hook that was run and a later one are never mistaken for each other.
CREATE TABLE pending_hook (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id INTEGER NOT NULL,
    occasion TEXT NOT NULL,
    hook TEXT NOT NULL,
    -- The task as it ended: it may be removed or tried again meanwhile.
    path TEXT,
    description TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Unfinished tasks with conditions of the calendar, and when a condition has to be checked next.
CREATE TABLE calendar (
    task_id INTEGER PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX calendar_due ON calendar (due_at);

-- `target_id` has to complete before `task_id` starts. The row outlives its target and keeps its outcome: null while
-- the target is open.
CREATE TABLE dependency (
    task_id INTEGER NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL,
    outcome TEXT,
    PRIMARY KEY (task_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependency_open ON dependency (target_id, task_id) WHERE outcome IS NULL;

-- Targets that have ended and whose dependents have not all been updated.
CREATE TABLE ended_target (
    target_id INTEGER PRIMARY KEY,
    outcome TEXT NOT NULL
) STRICT;

-- One row per group that has tasks, or for which something is set. AUTOINCREMENT: what is left of a group never becomes
-- another one's.
CREATE TABLE queue_group (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    name TEXT NOT NULL,
    max_active INTEGER,
    -- Bytes per second over its transfers.
    max_recv_rate INTEGER,
    max_send_rate INTEGER,
    paused INTEGER NOT NULL DEFAULT 0,
    -- Of the batch it was made for.
    batch_id INTEGER,
    UNIQUE (owner, name)
) STRICT;
CREATE INDEX group_paused ON queue_group (id) WHERE paused = 1;
CREATE INDEX group_limited ON queue_group (id)
    WHERE max_recv_rate IS NOT NULL OR max_send_rate IS NOT NULL;

CREATE TABLE batch (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    group_name TEXT NOT NULL,
    client_key TEXT,
    -- Of what the add with that key asked for.
    fingerprint INTEGER,
    -- Null while its members are being added.
    total INTEGER,
    -- Members whose rows were removed after they failed.
    removed_failed INTEGER NOT NULL DEFAULT 0,
    -- The entries that were refused, as they were answered: JSON.
    refused TEXT,
    created_at INTEGER NOT NULL,
    completed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX batch_client_key ON batch (owner, client_key) WHERE client_key IS NOT NULL;
CREATE INDEX batch_completed ON batch (completed_at) WHERE completed_at IS NOT NULL;

-- A batch's tasks by state.
CREATE TABLE batch_count (
    batch_id INTEGER NOT NULL REFERENCES batch (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (batch_id, state)
) STRICT, WITHOUT ROWID;

-- The last turn that was given, by priority, and the lowest: a lane that is put at the head gets one below it.
CREATE TABLE rotation (
    priority INTEGER PRIMARY KEY,
    last INTEGER NOT NULL
, first INTEGER NOT NULL DEFAULT 0) STRICT;

-- One row per host that is the only one of groups which are not paused: the first turn among them, so that a blocked
-- host is passed over with all of them.
CREATE TABLE only_host_queue (
    priority INTEGER NOT NULL,
    host TEXT NOT NULL,
    turn INTEGER NOT NULL,
    PRIMARY KEY (priority, host)
) STRICT, WITHOUT ROWID;
CREATE INDEX only_host_turn ON only_host_queue (priority, turn);

-- One row per lane: priority, group, profile ('' is none) and host with queued tasks; `turn` is the place in the
-- rotation.
CREATE TABLE host_queue (
    priority INTEGER NOT NULL,
    group_id INTEGER NOT NULL,
    profile TEXT NOT NULL,
    host TEXT NOT NULL,
    queued INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    cooling INTEGER NOT NULL,
    PRIMARY KEY (priority, group_id, profile, host)
) STRICT, WITHOUT ROWID;
CREATE INDEX host_turn ON host_queue (priority, group_id, profile, cooling, turn);
CREATE INDEX host_lane ON host_queue (host);

-- One row per line: priority, group and profile with queued tasks. `turn` is that of its first lane that is not cooling
-- down, null without one; `held` while the group is paused; `only_host` where it has one lane, else ''.
CREATE TABLE group_queue (
    priority INTEGER NOT NULL,
    group_id INTEGER NOT NULL,
    profile TEXT NOT NULL,
    held INTEGER NOT NULL,
    turn INTEGER,
    only_host TEXT NOT NULL,
    PRIMARY KEY (priority, group_id, profile)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_turn ON group_queue (priority, held, only_host, turn);

-- Tasks that were in flight when the daemon crashed. No foreign key: each task's deletion would search here. Rows of
-- tasks that have ended are removed at the next start.
CREATE TABLE task_crash (
    task_id INTEGER PRIMARY KEY,
    -- Crashes since the task's last progress.
    count INTEGER NOT NULL,
    -- The task's furthest offset at the last one: a further one is progress.
    furthest INTEGER NOT NULL
) STRICT;

-- Removed once it is accepted. AUTOINCREMENT: a delivery that was settled and a later one are never mistaken for each
-- other.
CREATE TABLE webhook_delivery (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook TEXT NOT NULL,
    -- The request's Idempotency-Key, the same at every try, also when the store's id has changed meanwhile.
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    -- Null once it was given up.
    next_try_at INTEGER,
    failed_at INTEGER
) STRICT;
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX webhook_delivery_failed ON webhook_delivery (failed_at) WHERE failed_at IS NOT NULL;

-- One row per webhook that had a delivery.
CREATE TABLE webhook_state (
    webhook TEXT NOT NULL PRIMARY KEY,
    -- Tries that failed since the last accepted one.
    failures INTEGER NOT NULL DEFAULT 0,
    -- Nothing is sent before.
    paused_until INTEGER,
    delivered_at INTEGER,
    failed_at INTEGER,
    failure TEXT
) STRICT, WITHOUT ROWID;

-- Tokens of clients on the network. AUTOINCREMENT: a revoked token and a later one are never mistaken for each other.
CREATE TABLE token (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    -- SHA-256 of the token, which is 256 random bits, so its digest does not reveal it.
    digest BLOB NOT NULL UNIQUE,
    owner INTEGER NOT NULL,
    scope TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- Null is never.
    expires_at INTEGER
) STRICT;
