import StrictJSON
import XferTestSupport

/// A call of every method, and calls that give each restricted field a value that guests may not give.
enum AccessCalls {
    /// By method; each names an operator's object where the method can name one.
    static func methods(_ objects: AccessObjects) -> [String: JSONValue] {
        let task: JSONValue = .integer(objects.task)
        let data: JSONValue = .integer(objects.data)
        let tasks: JSONValue = ["ids": [task]]
        let group: JSONValue = ["name": "shared", "owner": 0]
        let slot: JSONValue = ["slot": "place"]
        return [
            "task.add": ["url": .string(objects.server.url("/add")), "kind": "data", "paused": true],
            "task.get": ["id": task], "task.list": ["filter": ["all": true]],
            "task.count": ["filter": ["all": true]],
            "task.wait": ["ids": [task], "timeout": 0],
            "task.pause": tasks, "task.resume": tasks, "task.cancel": ["ids": [data]], "task.retry": tasks,
            "task.remove": tasks, "task.update": ["id": task, "changes": ["label": "other"]],
            "task.update_many": ["filter": ["ids": task], "changes": ["label": "other"]],
            "task.move": ["ids": [task], "to": "top"],
            "task.set_source": ["id": task, "url": .string(objects.server.url("/other"))],
            "task.record_digest": ["id": task, "digest": .string("md5=900150983cd24fb0d6963f7d28e17f72")],
            "task.commit": tasks, "task.read": ["id": data], "task.result": ["id": data],
            "operation.get": ["id": .integer(objects.operation)], "operation.list": [:],
            "operation.cancel": ["id": .integer(objects.operation)],
            "queue.stats": [:], "queue.pause": [:], "queue.resume": [:], "queue.set_limits": ["max_active": 2],
            "queue.hosts": [:], "queue.set_host": ["host": "example.org", "connections": 2],
            "batch.add": [
                "tasks": [.string(objects.server.url("/batch"))], "options": ["kind": "data", "paused": true],
            ],
            "batch.get": ["id": .integer(objects.batch)], "batch.list": [:],
            "group.list": [:], "group.get": group, "group.pause": group, "group.resume": group,
            "group.set": ["name": "shared", "max_active": 1], "group.remove": ["name": "shared"],
            "slot.get": slot, "slot.detach": slot, "slot.cancel": slot,
            "cache.stats": [:], "cache.list": [:], "cache.get": ["id": .integer(objects.cacheEntry)],
            "cache.put": ["url": .string(objects.server.url("/put")), "base64": "b2s="],
            "cache.remove": ["ids": [.integer(objects.cacheEntry)]], "cache.clear": [:],
            "cache.trim": ["max_bytes": 1_000_000],
            "failed_url.list": [:], "failed_url.remove": ["ids": [.integer(objects.failedURL)]],
            "failed_url.clear": [:], "hsts.list": [:], "hsts.clear": [:],
            "policy.list": [:], "policy.get": ["name": "kept"],
            "policy.set": ["policy": ["name": "new", "hosts": ["new.test"], "mode": "none"]],
            "policy.remove": ["name": "spare"], "policy.test": ["url": .string(objects.server.url("/"))],
            "policy.pin": ["host": "localhost:1"],
            "profile.list": [:], "profile.get": ["name": "secret"], "profile.set": ["profile": ["name": "new"]],
            "profile.remove": ["name": "spare"],
            "hook.list": [:], "webhook.list": [:], "webhook.test": ["name": "own"],
            "events.subscribe": [:], "events.unsubscribe": ["subscription": 1], "events.since": ["seq": 0],
            "network.status": [:], "lease.renew": ["name": "l", "until": 0],
            "token.add": ["name": "other", "scope": "read"], "token.list": [:], "token.revoke": ["name": "other"],
            "daemon.status": [:], "daemon.config": [:], "daemon.shutdown": [:],
            "daemon.backup": ["file": .string("\(objects.daemon.downloads)/of-a-guest.backup")],
            "rpc.discover": [:],
        ]
    }

    /// A call that gives a restricted field a value which only operators may give.
    struct FieldCall {
        let method: String
        /// The field that the refusal names.
        let path: String
        /// The parameters, for an unfinished task of the caller's.
        let params: (_ task: Int64) -> JSONValue
    }

    /// By field, as `Record.field`.
    static func fields(_ objects: AccessObjects) -> [String: [FieldCall]] {
        let downloads = objects.daemon.downloads
        let file: JSONValue = .string(objects.file)
        let owner: JSONValue = 0
        func add(_ path: String, _ fields: JSONObject) -> FieldCall {
            FieldCall(method: "task.add", path: path) { _ in
                var params: JSONObject = ["url": .string(objects.server.url("/field")), "paused": true]
                if fields["dir"] == nil, fields["output"] == nil, fields["kind"] == nil { params["kind"] = "data" }
                for (name, value) in fields.members { params[name] = value }
                return .object(params)
            }
        }
        func update(_ path: String, _ changes: JSONObject) -> FieldCall {
            FieldCall(method: "task.update", path: "changes." + path) { task in
                ["id": .integer(task), "changes": .object(changes)]
            }
        }
        func group(_ method: String, _ more: JSONObject = [:]) -> [FieldCall] {
            [
                FieldCall(method: method, path: "name") { _ in
                    var params = more
                    params["name"] = "shared"
                    params["owner"] = owner
                    return .object(params)
                }
            ]
        }
        func secret(_ name: String, _ value: String) -> [FieldCall] {
            let reference: JSONValue = .object([name: .string(value)])
            let credential: JSONValue = ["user": "ann", "password": reference]
            return [
                add("credential", ["credential": credential]),
                add("credential", ["credential": ["scheme": "bearer", "secret": reference]]),
                add("proxy", ["proxy": ["url": "http://127.0.0.1:9", "credential": credential]]),
                update("credential", ["credential": credential]),
            ]
        }
        return [
            "NewTask.client_cert": [add("client_cert", ["client_cert": ["certificate": file, "key": file]])],
            "NewTask.post_process": [add("post_process", ["kind": "download", "post_process": "own"])],
            "NewTask.on_complete": [add("on_complete", ["on_complete": "own"])],
            "NewTask.on_error": [add("on_error", ["on_error": "own"])],
            "NewTask.on_end": [add("on_end[0]", ["on_end": ["own"]])],
            "NewTask.source": [add("source", ["kind": "upload", "source": file])],
            "NewTask.output": [add("output", ["output": file])],
            "NewTask.dir": [add("dir", ["dir": .string(downloads)])],
            "NewTask.priority": [add("priority", ["priority": "high"])],
            "NewTask.headers": [add("headers", ["profile": "secret", "headers": ["Host": "other.test"]])],
            "NewTask.ip_version": [add("ip_version", ["ip_version": "4"])],
            "NewTask.unix_socket": [add("unix_socket", ["unix_socket": "/run/walk.sock"])],
            "TaskChanges.unix_socket": [update("unix_socket", ["unix_socket": "/run/walk.sock"])],
            "NewTask.ca_file": [add("ca_file", ["ca_file": file])],
            "TaskChanges.ca_file": [update("ca_file", ["ca_file": file])],
            "NewTask.interface": [add("interface", ["interface": "lo"])],
            "NewTask.resolve": [add("resolve", ["resolve": ["a.test:80:127.0.0.1"]])],
            "NewTask.connect_to": [add("connect_to", ["connect_to": ["a.test:80:127.0.0.1:80"]])],
            "NewTask.proxy": [add("proxy", ["profile": "secret", "proxy": "http://127.0.0.1:9"])],
            "NewTask.owner": [add("owner", ["owner": "0"])],
            "NewTask.lease": [add("lease", ["lease": "l"])],
            "TaskChanges.lease": [update("lease", ["lease": "l"])],
            "TaskChanges.priority": [update("priority", ["priority": "high"])],
            "TaskChanges.dir": [update("dir", ["dir": .string(downloads)])],
            "TaskChanges.output": [update("output", ["output": file])],
            "TaskChanges.headers": [update("headers", ["headers": ["Host": "other.test"]])],
            "TaskChanges.client_cert": [
                update("client_cert", ["client_cert": ["certificate": file, "key": file]])
            ],
            "TaskChanges.proxy": [update("proxy", ["proxy": "http://127.0.0.1:9"])],
            "TaskChanges.ip_version": [update("ip_version", ["ip_version": "4"])],
            "TaskChanges.interface": [update("interface", ["interface": "lo"])],
            "TaskChanges.resolve": [update("resolve", ["resolve": ["a.test:80:127.0.0.1"]])],
            "TaskChanges.connect_to": [update("connect_to", ["connect_to": ["a.test:80:127.0.0.1:80"]])],
            "SecretReference.file": secret("file", "/etc/hostname"),
            "SecretReference.systemd": secret("systemd", "token"),
            "SecretReference.env": secret("env", "HOME"),
            "BodyInput.file": [add("body.file", ["method": "POST", "body": ["file": file]])],
            "CachePutParams.file": [
                FieldCall(method: "cache.put", path: "file") { _ in
                    ["url": .string(objects.server.url("/put")), "file": file]
                }
            ],
            "PartInput.file": [add("parts[0].file", ["method": "POST", "parts": [["name": "f", "file": file]]])],
            "TaskFilter.owner": [
                FieldCall(method: "task.list", path: "filter.owner") { _ in ["filter": ["owner": owner]] }
            ],
            "GroupGetParams.owner": group("group.get") + group("group.resume") + group("group.remove"),
            "GroupPauseParams.owner": group("group.pause"),
            "GroupSetParams.owner": group("group.set", ["max_active": 1]),
        ]
    }
}
