import { credentials } from "./session.js";

/** An error that the daemon answered. `reason` is a word for programs. */
export class RPCError extends Error {
    constructor({ code, message, data }) {
        super(message);
        this.code = code;
        this.reason = data?.reason ?? "";
        this.path = data?.path ?? "";
    }

    get isForbidden() { return this.code === -32003; }
}

/** The daemon does not know the token: it was revoked, has expired, or never was one. */
export class Unauthorized extends Error {}

/** No answer came, so a change may or may not have happened. */
export class Unreachable extends Error {}

/** Milliseconds after which a request has lost its connection. Commands for 100,000 tasks take their time. */
const LONGEST_WAIT = 300_000;

let lastID = 0;

/** `daemon.status`, by which the page knows that the daemon answers: so it must not wait for long. */
export const readStatus = () => call("daemon.status", {}, 10_000);

/** The result of a method (docs/reference/rpc.md). Throws RPCError, Unauthorized or Unreachable. */
export async function call(method, params = {}, longestWait = LONGEST_WAIT) {
    const answer = await post("/rpc", { jsonrpc: "2.0", id: ++lastID, method, params }, longestWait);
    const { result, error } = await answer.json();
    if (error) throw new RPCError(error);
    return result;
}

/**
 * Starts the download of a published file, under a name.
 *
 * A link cannot carry the token, so it carries a ticket for one use. The browser shows no reason when a download fails,
 * so the file is read here first.
 */
export async function openFile(task, name) {
    await call("task.read", { id: task, length: 1 });
    const { path } = await (await post("/tickets", { task })).json();
    const link = document.createElement("a");
    link.href = new URL(path, location.origin);
    link.download = name;
    link.hidden = true;
    document.body.append(link);
    link.click();
    link.remove();
}

async function post(path, content, longestWait = LONGEST_WAIT) {
    const { headers, ...rest } = credentials();
    let answer;
    try {
        answer = await fetch(path, {
            ...rest,
            method: "POST",
            headers: { ...headers, "Content-Type": "application/json" },
            body: JSON.stringify(content),
            signal: AbortSignal.timeout(longestWait),
        });
    } catch {
        throw new Unreachable("xferd does not answer. The request may or may not have been carried out.");
    }
    if (answer.status === 401) throw new Unauthorized("The daemon refuses the token.");
    if (!answer.ok) throw new Error((await answer.text()).trim() || `The daemon answered ${answer.status}.`);
    return answer;
}
