PRAGMA application_id = 2019976562;
PRAGMA user_version = 36;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at TEXT NOT NULL DEFAULT (datetime())
) STRICT;
INSERT INTO migration VALUES(1,'initial schema','2026-11-21 06:48:22');
INSERT INTO migration VALUES(2,'trust policies','2026-11-21 07:40:00');
INSERT INTO migration VALUES(3,'requests and uploads','2026-11-21 09:00:00');
INSERT INTO migration VALUES(4,'transfer sources','2026-11-21 10:00:00');
INSERT INTO migration VALUES(5,'spool','2026-11-21 11:00:00');
INSERT INTO migration VALUES(6,'abandoned uploads','2026-11-21 13:10:00');
INSERT INTO migration VALUES(7,'slots and failed URLs','2026-11-21 13:00:00');
INSERT INTO migration VALUES(8,'coalescing','2026-11-21 15:40:00');
INSERT INTO migration VALUES(9,'cache','2026-11-21 16:00:09');
INSERT INTO migration VALUES(10,'staging and hooks','2026-11-21 16:00:00');
INSERT INTO migration VALUES(11,'schedules','2026-11-21 16:00:01');
INSERT INTO migration VALUES(12,'groups and batches','2026-11-21 16:00:02');
INSERT INTO migration VALUES(13,'mirrors','2026-11-21 18:00:02');
INSERT INTO migration VALUES(14,'lanes by profile','2026-11-21 19:14:00');
INSERT INTO migration VALUES(15,'wait ends','2026-11-21 19:15:00');
INSERT INTO migration VALUES(16,'cheap states','2026-11-21 21:50:00');
INSERT INTO migration VALUES(17,'crashes','2026-11-22 11:20:00');
INSERT INTO migration VALUES(18,'file marks','2026-11-22 11:40:00');
INSERT INTO migration VALUES(19,'webhooks','2026-11-23 03:50:00');
INSERT INTO migration VALUES(20,'tokens','2026-11-23 05:10:00');
INSERT INTO migration VALUES(21,'cheap removals','2026-11-25 04:30:00');
INSERT INTO migration VALUES(22,'brief runs','2026-11-25 09:20:00');
INSERT INTO migration VALUES(23,'event series','2026-11-25 21:55:00');
INSERT INTO migration VALUES(24,'answer doubts','2026-11-26 14:00:00');
INSERT INTO migration VALUES(25,'causes of cooldowns','2026-11-26 14:30:00');
INSERT INTO migration VALUES(26,'last attempts','2026-11-26 14:30:00');
INSERT INTO migration VALUES(27,'tasks of cooldowns','2026-11-26 17:30:00');
INSERT INTO migration VALUES(28,'secure hosts','2026-11-26 18:00:00');
INSERT INTO migration VALUES(29,'token directories','2026-11-26 18:10:00');
INSERT INTO migration VALUES(30,'open dependencies','2026-11-26 21:10:00');
INSERT INTO migration VALUES(31,'stored bytes','2026-11-26 21:30:00');
INSERT INTO migration VALUES(32,'upload parts','2026-11-26 21:40:00');
INSERT INTO migration VALUES(33,'operations','2026-11-27 03:10:00');
INSERT INTO migration VALUES(34,'published digests','2026-11-27 07:30:00');
INSERT INTO migration VALUES(35,'user shares','2026-11-27 14:30:00');
INSERT INTO migration VALUES(36,'update operations','2026-11-27 14:31:00');
CREATE TABLE store (id TEXT NOT NULL, digest_key BLOB) STRICT;
INSERT INTO store VALUES('dad9c46e3960d7572426b76f5444d436',X'4d89e62a91fe81ea4265c810a08e7ee2973e52a1b1179965e1e99ea78f0d0f96');
CREATE TABLE setting (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO setting VALUES('queue.paused','true');
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
, source INTEGER NOT NULL DEFAULT 0, senders INTEGER NOT NULL DEFAULT 1, needs_digest INTEGER NOT NULL DEFAULT 0, suspects INTEGER NOT NULL DEFAULT 0, condemned INTEGER NOT NULL DEFAULT 0, part_device INTEGER, part_inode INTEGER, part_born_at INTEGER, part_generation INTEGER, part_length INTEGER, part_modified_at INTEGER, publish_born_at INTEGER, publish_generation INTEGER, publish_length INTEGER, publish_modified_at INTEGER, publish_changed_at INTEGER, publish_digest TEXT, media_type TEXT, doubt TEXT, doubt_count INTEGER) STRICT;
INSERT INTO transfer VALUES(1,'/srv/downloads',1,2,'"abc"','Thu, 01 Jan 2026 00:00:00 GMT','Thu, 01 Jan 2026 12:00:00 GMT',10000,NULL,'https://example.com/file?a=b','[["X-A","b"]]','file',1,3,1767268800000000,'5eed5eed',2,5,1,9,8,1,77,1700000000123456789,4294967295,4096,1700000000123456790,1700000000000000001,7,10000,-1,1700000000000000003,'sha-256=0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a','application/zip','200 text/html - - 2040 -',2);
INSERT INTO transfer VALUES(2,'/srv/downloads',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1767268800000000,'dad9c46e',0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE segment (
    transfer_id INTEGER NOT NULL REFERENCES transfer (id) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    "end" INTEGER,
    committed INTEGER NOT NULL,
    PRIMARY KEY (transfer_id, start)
) STRICT, WITHOUT ROWID;
INSERT INTO segment VALUES(1,0,8000,4000);
INSERT INTO segment VALUES(1,8000,NULL,8096);
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
, policy TEXT, sent INTEGER NOT NULL DEFAULT 0, profile TEXT, slot TEXT, coalesce_key BLOB, group_id INTEGER NOT NULL DEFAULT 0, batch_id INTEGER, last_attempt TEXT) STRICT;
INSERT INTO task VALUES(1,1000,'download','running',NULL,NULL,1,'example.com','group','it''s a label',NULL,'key',-636555989342686072,1,4096,10000,1,1767268800000000,1767268800000000,NULL,1767268800000000,'https://example.com/file?a=b','/srv/downloads','file','md5=0102030405060708090a0b0c0d0e0f10','{"credential":{"password":"secret","user":"user"},"headers":[{"name":"X-A","value":"b"}],"mode":384,"onConflict":"overwrite","retry":{"maxRetries":3,"retryFor":60}}','{"a":1}',NULL,NULL,NULL,NULL,200,'"abc"',NULL,0,0,'[["Server","nginx"]]',4096,1,2,'bank',0,NULL,'avatar',X'c0ffee01',1,NULL,NULL);
INSERT INTO task VALUES(2,1000,'download','queued',NULL,NULL,2,'b.example:8080',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,0,1767268800000000,NULL,NULL,NULL,'http://b.example:8080/','/home/user/Downloads','file-2.bin',NULL,'{"schedule":{"notBefore":1767268800000000,"window":{"times":[{"start":{"minutes":1320},"end":{"minutes":360}}],"days":["sat","sun"],"zone":"Europe/Berlin"},"deadline":1767355200000000,"after":[3,77]},"mirrors":[{"host":"c.example","port":443,"scheme":"https","target":"/f?x=y"},{"host":"d.example","port":80,"scheme":"http","target":"/"}]}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,NULL,NULL,X'c0ffee01',0,NULL,NULL);
INSERT INTO task VALUES(3,1000,'download','failed',NULL,NULL,1,'c.example',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,0,1767268800000000,NULL,1767268800000000,NULL,'https://c.example/files/file-3.bin','/home/user/Downloads','file-3.bin',NULL,NULL,NULL,'http_status','{"host":"c.example","httpStatus":404,"isRetriable":false,"message":"the server answered 404","reason":"http_status"}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,0,NULL,NULL,'bank',0,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO task VALUES(5,1000,'data','completed',NULL,NULL,1,'api.example',NULL,NULL,NULL,'hook',-2507457822800428320,NULL,8,8,0,1767268800000000,NULL,1767268800000000,NULL,'https://api.example/v1/hooks','/srv/downloads',NULL,NULL,'{"acceptedTypes":["application/json"],"headers":[{"name":"Content-Type","value":"application/json"}],"method":"POST","response":{"parsers":["json"],"stripsNulls":true}}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,7,'work',NULL,NULL,0,NULL,NULL);
INSERT INTO task VALUES(6,1000,'data','completed',NULL,NULL,1,'api.example',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,0,1767268800000000,NULL,1767268800000000,NULL,'https://api.example/v1/export','/srv/downloads',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,'work',NULL,NULL,0,NULL,NULL);
INSERT INTO task VALUES(7,1000,'upload','running',NULL,NULL,1,'up.example',NULL,NULL,NULL,NULL,NULL,2,0,NULL,1,1767268800000000,NULL,NULL,NULL,'https://up.example/files','/srv/downloads',NULL,NULL,'{"maxSendRate":65536,"method":"POST","upload":{"isSpooled":false,"uploadProtocol":"tus"}}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,40000,'work',NULL,NULL,0,NULL,NULL);
INSERT INTO task VALUES(8,1000,'upload','paused',NULL,NULL,1,'up.example',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,0,1767268800000000,NULL,NULL,NULL,'https://up.example/form','/srv/downloads',NULL,NULL,'{"method":"POST"}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO task VALUES(9,1000,'upload','queued',NULL,NULL,1,'up.example',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,0,1767268800000000,NULL,NULL,NULL,'https://up.example/copy','/srv/downloads',NULL,NULL,'{"method":"PUT","upload":{"isSpooled":true,"uploadProtocol":"plain"}}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO task VALUES(10,1000,'download','paused',NULL,NULL,0,'images.example','batch-1',NULL,NULL,NULL,NULL,NULL,0,NULL,0,1767268800000000,NULL,NULL,NULL,'https://images.example/a','/srv',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,NULL,NULL,NULL,2,1,NULL);
INSERT INTO task VALUES(11,1000,'download','completed',NULL,NULL,0,'images.example','batch-1',NULL,NULL,NULL,NULL,NULL,0,NULL,0,1767268800000000,1767268801000000,1767268802000000,NULL,'https://images.example/b','/srv',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,NULL,NULL,NULL,2,1,'127.0.0.1 80 HTTP/1.1 0 10 20 - 30 40 1767268800000000');
INSERT INTO task VALUES(12,1000,'download','queued',NULL,NULL,0,'images.example','batch-1',NULL,NULL,NULL,NULL,NULL,0,NULL,0,1767268800000000,NULL,NULL,NULL,'https://images.example/c','/srv',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,'work',NULL,NULL,2,1,NULL);
CREATE TABLE host_cooldown (
    host TEXT NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL
, task_id INTEGER, owner INTEGER, url TEXT) STRICT, WITHOUT ROWID;
INSERT INTO host_cooldown VALUES('c.example',1767268800000000,1,1000,'https://example.com/file');
CREATE TABLE task_count (
    owner INTEGER NOT NULL,
    group_name TEXT NOT NULL,
    state TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (owner, group_name, state)
) STRICT, WITHOUT ROWID;
INSERT INTO task_count VALUES(-1,'','completed',3);
INSERT INTO task_count VALUES(-1,'','failed',1);
INSERT INTO task_count VALUES(-1,'','paused',2);
INSERT INTO task_count VALUES(-1,'','queued',3);
INSERT INTO task_count VALUES(-1,'','running',2);
INSERT INTO task_count VALUES(-1,'batch-1','completed',1);
INSERT INTO task_count VALUES(-1,'batch-1','paused',1);
INSERT INTO task_count VALUES(-1,'batch-1','queued',1);
INSERT INTO task_count VALUES(-1,'group','running',1);
INSERT INTO task_count VALUES(1000,'','completed',3);
INSERT INTO task_count VALUES(1000,'','failed',1);
INSERT INTO task_count VALUES(1000,'','paused',2);
INSERT INTO task_count VALUES(1000,'','queued',3);
INSERT INTO task_count VALUES(1000,'','running',2);
INSERT INTO task_count VALUES(1000,'batch-1','completed',1);
INSERT INTO task_count VALUES(1000,'batch-1','paused',1);
INSERT INTO task_count VALUES(1000,'batch-1','queued',1);
INSERT INTO task_count VALUES(1000,'group','running',1);
CREATE TABLE reservation (
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    name TEXT NOT NULL,
    task_id INTEGER NOT NULL,
    PRIMARY KEY (device, inode, name)
) STRICT, WITHOUT ROWID;
INSERT INTO reservation VALUES(1,2,'file',1);
CREATE TABLE event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    time INTEGER NOT NULL,
    type TEXT NOT NULL,
    task_id INTEGER,
    owner INTEGER,
    payload TEXT NOT NULL
, count INTEGER NOT NULL DEFAULT 1) STRICT;
INSERT INTO event VALUES(1,1767268800000000,'task.added',1,1000,'{"taskAdded":{"url":"https://example.com/file?a=b","label":"it''s a label","group":"group"}}',1);
INSERT INTO event VALUES(2,1767268800000000,'task.started',1,1000,'{"taskStarted":{"attempt":1,"offset":0}}',1);
INSERT INTO event VALUES(3,1767268800000000,'task.failed',3,1000,'{"taskFailed":{"error":{"host":"c.example","httpStatus":404,"isRetriable":false,"message":"the server answered 404","reason":"http_status"}}}',1);
INSERT INTO event VALUES(6,1767268800000000,'task.completed',2,1000,'[{"taskStarted":{"attempt":1,"offset":0}},{"taskResponse":{"status":200,"total":9,"resumed":false}},{"taskCompleted":{"path":"/srv/photo.jpeg","size":9,"skipped":false,"notModified":false}}]',3);
CREATE TABLE policy (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    -- Written in the configuration file, not over RPC.
    is_configured INTEGER NOT NULL,
    policy TEXT NOT NULL,
    -- Days before its expiry of the last warning that was given.
    warned INTEGER
) STRICT;
INSERT INTO policy VALUES(2,'file',1,'{"allow_invalid_certificates":true,"hosts":[".lab.example"],"min_tls":"1.2","mode":"none","name":"file","pins":[],"report_only":false,"validates_domain_name":false,"version":0}',NULL);
INSERT INTO policy VALUES(3,'bank',0,'{"allow_invalid_certificates":false,"hosts":["example.com","*.bank.example:8443"],"min_tls":"1.3","mode":"public_key","name":"bank","pins":[{"key":{"_0":"sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="}}],"expires_at":1798804800000000,"report_only":false,"validates_domain_name":true,"version":0}',30);
CREATE TABLE request_body (
    task_id INTEGER PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;
INSERT INTO request_body VALUES(5,'{"inline":{"_0":"eyJhIjoxfQ=="}}');
INSERT INTO request_body VALUES(7,'{"file":{"_0":{"identity":{"device":1,"inode":77},"length":100000,"modifiedAt":1700000000123456789,"path":"/srv/photo.jpeg"}}}');
INSERT INTO request_body VALUES(8,'{"parts":{"_0":[{"content":{"file":{"_0":{"identity":{"device":1,"inode":77},"length":100000,"modifiedAt":1700000000123456789,"path":"/srv/photo.jpeg"}}},"contentType":"image/jpeg","filename":"ä\".jpeg","headers":[],"name":"f"},{"content":{"inline":{"_0":"AP8="}},"headers":[{"name":"X-A","value":"b"}],"name":"n"}]}}');
INSERT INTO request_body VALUES(9,'{"file":{"_0":{"identity":{"device":1,"inode":77},"length":100000,"modifiedAt":1700000000123456789,"path":"/srv/photo.jpeg","spoolName":"c0ffee"}}}');
CREATE TABLE task_result (
    task_id INTEGER PRIMARY KEY,
    length INTEGER NOT NULL,
    content BLOB,
    file_name TEXT,
    object TEXT
, kept_at INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO task_result VALUES(5,8,X'7b2262223a327d00',NULL,'{"b":2}',1767268800000000);
INSERT INTO task_result VALUES(6,16777216,NULL,'feed',NULL,1767268800000000);
CREATE TABLE upload (
    transfer_id INTEGER PRIMARY KEY REFERENCES transfer (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    "offset" INTEGER NOT NULL,
    expires_at INTEGER,
    largest_append INTEGER
) STRICT;
INSERT INTO upload VALUES(2,'https://up.example:8443/u/1?x=y',40000,1767268800000000,1000000);
CREATE TABLE profile (
    name TEXT PRIMARY KEY,
    -- Written in the configuration file, not over RPC.
    is_configured INTEGER NOT NULL,
    profile TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO profile VALUES('file',1,'{"headerRules":[],"headers":[],"keepsCookies":false,"languages":[],"name":"file"}');
INSERT INTO profile VALUES('work',0,'{"baseURL":{"host":"api.example","port":443,"scheme":"https","target":"/v1/"},"headerRules":[],"headers":[{"name":"X-Key","value":"secret"}],"keepsCookies":true,"languages":[],"name":"work"}');
CREATE TABLE cookie (
    profile TEXT NOT NULL,
    domain TEXT NOT NULL,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (profile, domain, path, name)
) STRICT, WITHOUT ROWID;
INSERT INTO cookie VALUES('work','.api.example','/','sid','.api.example	TRUE	/	TRUE	1798804800	sid	abc');
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
INSERT INTO transfer_source VALUES(1,1,'https','example.com',443,'AQID /w==','1.3','3+5x');
INSERT INTO transfer_source VALUES(2,1,'http','a.example',80,'',NULL,'0');
CREATE TABLE spooled_source (
    name TEXT PRIMARY KEY,
    task_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO spooled_source VALUES('c0ffee',9);
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
INSERT INTO abandoned_upload VALUES(1,9,'https://up.example/uploads/7',1767268800000000,2,1767268860000000,1000,'https://up.example/files','{"method":"POST","upload":{"isSpooled":false,"uploadProtocol":"tus"}}','bank','api');
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
INSERT INTO failed_url VALUES(1,X'00ff',X'01','https://c.example/files/file-3.bin','GET',1000,3,'{"host":"c.example","httpStatus":404,"isRetriable":false,"message":"the server answered 404","reason":"http_status"}',1767268800000000);
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
INSERT INTO cache_entry VALUES(1,X'c0ffee02',X'aa01',X'aa02',1000,'blob-1','https://example.com/list?token=x','https://cdn.example.com/list',200,'[["ETag","\"a\""],["Vary","Accept"]]','[["accept","0102"]]',1767268800000000,1767268801000000,4096,X'0707070707070707070707070707070707070707070707070707070707070707',1767268802000000,1767268803000000);
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
INSERT INTO cache_source VALUES(1,1,'https','cdn.example.com',443,'AQI= Aw==','1.3','1');
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
INSERT INTO ready_file VALUES(1,1,'.xfer-5eed5eed-1-c0ffee.hook','file',1,1,77,9,1700000000123456789,1700000000123456790,'sha-256=0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a',1700000000000000005,9);
CREATE TABLE brief_intent (
    task_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    born_at INTEGER,
    generation INTEGER,
    length INTEGER NOT NULL,
    modified_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    digest TEXT
) STRICT;
INSERT INTO brief_intent VALUES(2,'photo.jpeg',1,79,1700000000000000008,11,9,1700000000123456789,1700000000123456790,NULL);
CREATE TABLE published_file (
    task_id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    length INTEGER NOT NULL,
    version TEXT NOT NULL
, born_at INTEGER, generation INTEGER, modified_at INTEGER, digest TEXT) STRICT;
INSERT INTO published_file VALUES(3,1,78,9,'1.0',1700000000000000006,10,1700000000000000007,'md5=900150983cd24fb0d6963f7d28e17f72');
CREATE TABLE transfer_version (
    transfer_id INTEGER PRIMARY KEY REFERENCES transfer (id) ON DELETE CASCADE,
    origin INTEGER NOT NULL,
    number INTEGER NOT NULL
) STRICT;
INSERT INTO transfer_version VALUES(2,1,3);
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
INSERT INTO pending_hook VALUES(5,3,'on_error','tell',NULL,'{"id":3}',1767268800000000);
CREATE TABLE calendar (
    task_id INTEGER PRIMARY KEY,
    due_at INTEGER NOT NULL
) STRICT;
INSERT INTO calendar VALUES(2,1767268860000000);
CREATE TABLE dependency (
    task_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    outcome TEXT,
    PRIMARY KEY (task_id, target_id)
) STRICT, WITHOUT ROWID;
INSERT INTO dependency VALUES(2,3,NULL);
INSERT INTO dependency VALUES(2,77,'completed');
CREATE TABLE ended_target (
    target_id INTEGER PRIMARY KEY,
    outcome TEXT NOT NULL
) STRICT;
INSERT INTO ended_target VALUES(3,'failed');
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
INSERT INTO queue_group VALUES(1,1000,'group',2,1048576,NULL,1,NULL);
INSERT INTO queue_group VALUES(2,1000,'batch-1',3,NULL,NULL,0,1);
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
INSERT INTO batch VALUES(1,1000,'batch-1','images',4711,4,1,'[{"index":4,"code":-32602,"message":"bad"}]',1767268800000000,NULL);
CREATE TABLE batch_count (
    batch_id INTEGER NOT NULL REFERENCES batch (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (batch_id, state)
) STRICT, WITHOUT ROWID;
INSERT INTO batch_count VALUES(1,'completed',1);
INSERT INTO batch_count VALUES(1,'paused',1);
INSERT INTO batch_count VALUES(1,'queued',1);
CREATE TABLE rotation (
    priority INTEGER PRIMARY KEY,
    last INTEGER NOT NULL
, first INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO rotation VALUES(0,1,0);
INSERT INTO rotation VALUES(1,1,0);
INSERT INTO rotation VALUES(2,1,0);
CREATE TABLE only_host_queue (
    priority INTEGER NOT NULL,
    host TEXT NOT NULL,
    turn INTEGER NOT NULL,
    PRIMARY KEY (priority, host)
) STRICT, WITHOUT ROWID;
INSERT INTO only_host_queue VALUES(0,'images.example',1);
INSERT INTO only_host_queue VALUES(1,'up.example',1);
INSERT INTO only_host_queue VALUES(2,'b.example:8080',1);
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
INSERT INTO host_queue VALUES(0,2,'work','images.example',1,1,0);
INSERT INTO host_queue VALUES(1,0,'','up.example',1,1,0);
INSERT INTO host_queue VALUES(2,0,'','b.example:8080',1,1,0);
CREATE TABLE group_queue (
    priority INTEGER NOT NULL,
    group_id INTEGER NOT NULL,
    profile TEXT NOT NULL,
    held INTEGER NOT NULL,
    turn INTEGER,
    only_host TEXT NOT NULL,
    PRIMARY KEY (priority, group_id, profile)
) STRICT, WITHOUT ROWID;
INSERT INTO group_queue VALUES(0,2,'work',0,1,'images.example');
INSERT INTO group_queue VALUES(1,0,'',0,1,'up.example');
INSERT INTO group_queue VALUES(2,0,'',0,1,'b.example:8080');
CREATE TABLE task_crash (
    task_id INTEGER PRIMARY KEY,
    -- Crashes since the task's last progress.
    count INTEGER NOT NULL,
    -- The task's furthest offset at the last one: a further one is progress.
    furthest INTEGER NOT NULL
) STRICT;
INSERT INTO task_crash VALUES(2,1,7);
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
, owner INTEGER) STRICT;
INSERT INTO webhook_delivery VALUES(3,'deploy','dad9c46e3960d7572426b76f5444d436-2-deploy','{"seq":2,"type":"task.failed"}',1767268800000000,4,1767268860000000,NULL,1000);
INSERT INTO webhook_delivery VALUES(4,'audit','dad9c46e3960d7572426b76f5444d436-2-audit','',1767268800000000,90,NULL,1767268920000000,NULL);
INSERT INTO webhook_delivery VALUES(5,'deploy','dad9c46e3960d7572426b76f5444d436-3-deploy','{"seq":3,"type":"task.failed","owner":1000}',1767268800000000,0,1767268860000000,NULL,1000);
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
INSERT INTO webhook_state VALUES('deploy',2,1767268830000000,1767268700000000,1767268810000000,'ci.example answered 503 (Service Unavailable)');
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
, directory TEXT) STRICT;
INSERT INTO token VALUES(3,'phone',X'abababababababababababababababababababababababababababababababab',1000,'add',1767323045000000,1798859045000000,'/srv/phone');
CREATE TABLE secure_host (
    host TEXT NOT NULL PRIMARY KEY,
    includes_subdomains INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    noted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO secure_host VALUES('example.org',1,4102444800000000,1767323045000000);
CREATE TABLE upload_part (
    transfer_id INTEGER NOT NULL REFERENCES transfer (id) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    url TEXT NOT NULL,
    "offset" INTEGER NOT NULL,
    expires_at INTEGER,
    largest_append INTEGER,
    PRIMARY KEY (transfer_id, part)
) STRICT, WITHOUT ROWID;
INSERT INTO upload_part VALUES(1,1,'https://up.example/parts/2',500000,NULL,NULL);
CREATE TABLE operation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    is_operator INTEGER NOT NULL,
    verb TEXT NOT NULL,
    deletes_files INTEGER NOT NULL DEFAULT 0,
    filter TEXT NOT NULL,
    last_task INTEGER NOT NULL,
    reached_task INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0,
    files_deleted INTEGER NOT NULL DEFAULT 0,
    files_kept INTEGER NOT NULL DEFAULT 0,
    report TEXT,
    state TEXT NOT NULL,
    error TEXT,
    created_at INTEGER NOT NULL,
    reported_at INTEGER,
    ended_at INTEGER
, changes TEXT, rights TEXT) STRICT;
INSERT INTO operation VALUES(3,1000,0,'remove',1,'{"group":"nightly"}',9,4,3,1,0,2,1,'{"kept":[{"id":4,"path":"/d/f","reason":"it was replaced"}],"refusals":[]}','running',NULL,1767323045000000,1767323046000000,NULL,NULL,NULL);
INSERT INTO operation VALUES(4,1000,0,'update',0,'{"group":"nightly"}',9,0,0,0,0,0,0,NULL,'running',NULL,1767323045000000,NULL,NULL,'{"priority":"low"}','{"confinement":"/srv/phone","groups":[1000,27],"isConfined":true,"maxPriority":1,"mayNameLeases":false,"roots":["/srv"]}');
CREATE TABLE task_bytes (
    task_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    owner INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (task_id, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO task_bytes VALUES(1,'row',1000,9000);
INSERT INTO task_bytes VALUES(9,'spool',1000,100000);
CREATE TABLE owner_bytes (
    owner INTEGER PRIMARY KEY,
    bytes INTEGER NOT NULL
) STRICT;
INSERT INTO owner_bytes VALUES(1000,109000);
CREATE TABLE owner_deliveries (
    owner INTEGER PRIMARY KEY,
    -- Bytes of the deliveries that wait: each is its text and 256 more.
    bytes INTEGER NOT NULL DEFAULT 0,
    -- Number of deliveries that were discarded because too many bytes waited.
    discarded INTEGER NOT NULL DEFAULT 0,
    -- When the first of them was, until half of the room is free again.
    discarding_at INTEGER,
    reported INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO owner_deliveries VALUES(1000,585,7,1767268870000000,1);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('task',12);
INSERT INTO sqlite_sequence VALUES('event',6);
INSERT INTO sqlite_sequence VALUES('transfer',2);
INSERT INTO sqlite_sequence VALUES('policy',4);
INSERT INTO sqlite_sequence VALUES('abandoned_upload',1);
INSERT INTO sqlite_sequence VALUES('failed_url',1);
INSERT INTO sqlite_sequence VALUES('cache_entry',1);
INSERT INTO sqlite_sequence VALUES('pending_hook',5);
INSERT INTO sqlite_sequence VALUES('queue_group',2);
INSERT INTO sqlite_sequence VALUES('batch',1);
INSERT INTO sqlite_sequence VALUES('webhook_delivery',5);
INSERT INTO sqlite_sequence VALUES('token',3);
INSERT INTO sqlite_sequence VALUES('operation',4);
CREATE INDEX task_state ON task (state);
CREATE INDEX task_owner ON task (owner);
CREATE INDEX task_host ON task (host);
CREATE INDEX task_group ON task (group_name) WHERE group_name IS NOT NULL;
CREATE INDEX task_label ON task (label) WHERE label IS NOT NULL;
CREATE UNIQUE INDEX task_client_key ON task (owner, client_key) WHERE client_key IS NOT NULL;
CREATE INDEX task_timer ON task (wait_until) WHERE wait_until IS NOT NULL;
CREATE INDEX task_wait ON task (wait_reason) WHERE wait_reason IS NOT NULL;
CREATE INDEX task_transfer ON task (transfer_id) WHERE transfer_id IS NOT NULL;
CREATE INDEX task_finished ON task (finished_at) WHERE state = 'completed' OR state = 'failed' OR state = 'cancelled';
CREATE INDEX task_published ON task (final_path) WHERE state = 'completed' AND final_path IS NOT NULL;
CREATE INDEX task_keeping_bytes ON task (finished_at) WHERE state = 'failed' AND transfer_id IS NOT NULL;
CREATE INDEX cooldown_until ON host_cooldown (until);
CREATE INDEX reservation_task ON reservation (task_id);
CREATE INDEX event_task ON event (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX task_policy ON task (policy)
    WHERE policy IS NOT NULL AND state NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX task_profile ON task (profile)
    WHERE profile IS NOT NULL AND state NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX task_result_file ON task_result (file_name) WHERE file_name IS NOT NULL;
CREATE INDEX transfer_source_transfer ON transfer_source (transfer_id);
CREATE INDEX task_result_kept ON task_result (kept_at);
CREATE INDEX spooled_source_task ON spooled_source (task_id);
CREATE INDEX abandoned_upload_next ON abandoned_upload (next_try_at);
CREATE INDEX task_slot ON task (slot) WHERE slot IS NOT NULL;
CREATE INDEX task_in_slot ON task (owner, slot)
    WHERE slot IS NOT NULL AND state NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX failed_url_owner ON failed_url (owner);
CREATE INDEX failed_url_digest ON failed_url (url_digest);
CREATE INDEX failed_url_time ON failed_url (failed_at);
CREATE INDEX task_coalescing ON task (coalesce_key, id) WHERE coalesce_key IS NOT NULL AND state = 'queued';
CREATE INDEX task_sharing ON task (coalesce_key) WHERE coalesce_key IS NOT NULL AND transfer_id IS NOT NULL;
CREATE INDEX cache_entry_key ON cache_entry (key);
CREATE INDEX cache_entry_url ON cache_entry (url_digest);
CREATE INDEX cache_entry_final_url ON cache_entry (final_url_digest);
CREATE INDEX cache_entry_owner ON cache_entry (owner, id, length);
CREATE INDEX cache_entry_used ON cache_entry (last_used_at, length);
CREATE INDEX cache_source_entry ON cache_source (entry_id);
CREATE INDEX ready_file_transfer ON ready_file (transfer_id);
CREATE INDEX transfer_publishing ON transfer (id) WHERE publish_name IS NOT NULL;
CREATE INDEX calendar_due ON calendar (due_at);
CREATE INDEX dependency_open ON dependency (target_id, task_id) WHERE outcome IS NULL;
CREATE INDEX group_paused ON queue_group (id) WHERE paused = 1;
CREATE INDEX group_limited ON queue_group (id)
    WHERE max_recv_rate IS NOT NULL OR max_send_rate IS NOT NULL;
CREATE UNIQUE INDEX batch_client_key ON batch (owner, client_key) WHERE client_key IS NOT NULL;
CREATE INDEX batch_completed ON batch (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX task_group_id ON task (group_id) WHERE group_id <> 0;
CREATE INDEX task_batch ON task (batch_id) WHERE batch_id IS NOT NULL;
CREATE INDEX only_host_turn ON only_host_queue (priority, turn);
CREATE INDEX task_queue ON task (priority, group_id, profile, host, rank) WHERE state = 'queued';
CREATE INDEX host_turn ON host_queue (priority, group_id, profile, cooling, turn);
CREATE INDEX host_lane ON host_queue (host);
CREATE INDEX group_turn ON group_queue (priority, held, only_host, turn);
CREATE INDEX task_wait_end ON task (wait_reason, wait_until) WHERE wait_until IS NOT NULL;
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX webhook_delivery_failed ON webhook_delivery (failed_at) WHERE failed_at IS NOT NULL;
CREATE INDEX task_refused ON task (host, wait_until)
    WHERE wait_reason = 'retry' AND error_reason = 'http_status';
CREATE INDEX cooldown_task ON host_cooldown (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX dependency_waiting ON dependency (task_id) WHERE outcome IS NULL;
CREATE TRIGGER task_bytes_added AFTER INSERT ON task_bytes BEGIN
    INSERT INTO owner_bytes (owner, bytes) VALUES (NEW.owner, NEW.bytes)
        ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER task_bytes_changed AFTER UPDATE OF bytes ON task_bytes BEGIN
    UPDATE owner_bytes SET bytes = bytes + NEW.bytes - OLD.bytes WHERE owner = NEW.owner;
END;
CREATE TRIGGER task_bytes_removed AFTER DELETE ON task_bytes BEGIN
    UPDATE owner_bytes SET bytes = bytes - OLD.bytes WHERE owner = OLD.owner;
END;
CREATE INDEX operation_owner ON operation (owner, id);
CREATE INDEX operation_running ON operation (owner, id) WHERE ended_at IS NULL;
CREATE INDEX operation_ended ON operation (ended_at) WHERE ended_at IS NOT NULL;
CREATE TRIGGER webhook_delivery_added AFTER INSERT ON webhook_delivery
WHEN NEW.owner IS NOT NULL AND NEW.next_try_at IS NOT NULL BEGIN
    INSERT INTO owner_deliveries (owner, bytes) VALUES (NEW.owner, length(CAST(NEW.body AS BLOB)) + 256)
        ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER webhook_delivery_given_up AFTER UPDATE OF next_try_at ON webhook_delivery
WHEN OLD.owner IS NOT NULL AND OLD.next_try_at IS NOT NULL AND NEW.next_try_at IS NULL BEGIN
    UPDATE owner_deliveries SET bytes = bytes - length(CAST(OLD.body AS BLOB)) - 256
        WHERE owner = OLD.owner;
END;
CREATE TRIGGER webhook_delivery_removed AFTER DELETE ON webhook_delivery
WHEN OLD.owner IS NOT NULL AND OLD.next_try_at IS NOT NULL BEGIN
    UPDATE owner_deliveries SET bytes = bytes - length(CAST(OLD.body AS BLOB)) - 256
        WHERE owner = OLD.owner;
END;
CREATE INDEX cache_entry_owner_used ON cache_entry (owner, last_used_at, length);
COMMIT;
