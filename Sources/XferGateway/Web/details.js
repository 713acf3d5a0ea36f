import { byID, element, setText } from "./dom.js";
import { formatCount, formatDuration, formatLimit, formatMoment, formatRate, formatShare } from "./format.js";
import { errorText } from "./notices.js";
import { call } from "./rpc.js";
import { amountOf, shareOf } from "./task-row.js";
import { Throttle } from "./throttle.js";
import { TimeLine } from "./time-line.js";
import { adviceFor, nameOf, PHASES, STATES, waitText } from "./words.js";

/** The panel with everything about one task. */
export class Details extends EventTarget {
    #id = null;
    #reading = new Throttle(() => this.#read(), 150);
    #timeLine = new TimeLine(byID("time-line"));

    constructor() {
        super();
        this.node = byID("details");
        byID("close-details").addEventListener("click", () => this.close());
    }

    get isOpen() { return this.#id !== null; }

    open(id) {
        if (id === null || id === this.#id) return;
        this.#id = id;
        this.node.hidden = false;
        // On a small screen the panel covers the list.
        if (getComputedStyle(this.node).position === "fixed") byID("close-details").focus();
        setText(byID("details-name"), `Task ${id}`);
        byID("details-facts").replaceChildren();
        byID("details-failure").hidden = true;
        this.#timeLine.show(id);
        this.#reading.request();
        this.dispatchEvent(new Event("change"));
    }

    close() {
        this.#id = null;
        if (this.node.contains(document.activeElement)) byID("list").focus();
        this.node.hidden = true;
        this.dispatchEvent(new Event("change"));
    }

    apply(event) {
        if (this.#id === null || event.task_id !== this.#id) return;
        this.#reading.request();
        if (event.type !== "task.progress") this.#timeLine.append(event);
    }

    /** After a lost connection. */
    refresh() {
        if (this.#id === null) return;
        this.#reading.request();
        this.#timeLine.show(this.#id);
    }

    async #read() {
        const id = this.#id;
        if (id === null) return;
        try {
            const { task } = await call("task.get", { id });
            if (id === this.#id) this.#render(task);
        } catch (error) {
            if (id === this.#id) this.#showFailure(errorText(error), "");
        }
    }

    #render(task) {
        setText(byID("details-name"), nameOf(task));
        byID("details-failure").hidden = true;
        if (task.error) {
            const before = ["failed", "waiting"].includes(task.state) ? "" : "An earlier attempt: ";
            const advice = task.state === "failed" ? adviceFor(task.error) : "";
            this.#showFailure(before + task.error.message, advice);
        }
        const facts = factsOf(task).filter(([, text]) => text);
        updateFacts(byID("details-facts"), facts);
    }

    #showFailure(message, advice) {
        byID("details-failure").hidden = false;
        setText(byID("details-error"), message);
        setText(byID("details-advice"), advice);
    }
}

/** Names and texts of what is known about a task; an empty text is unknown. */
function factsOf(task) {
    const { progress } = task;
    const share = shareOf(task);
    return [
        ["Task", String(task.id)],
        ["State", [STATES[task.state], task.phase && PHASES[task.phase]].filter(Boolean).join(", ")],
        ["Waits", task.wait && waitText(task.wait)],
        ["Done", share === null ? amountOf(task) : `${amountOf(task)} (${formatShare(share)})`],
        ["Rate", task.state === "running" && formatRate(progress.rate)],
        ["Time left", task.state === "running" && progress.eta !== null && formatDuration(progress.eta)],
        ["File", task.final_path],
        ["Output", !task.final_path && task.output],
        ["Directory", !task.final_path && task.dir],
        ["URL", task.url],
        ["Mirrors", task.urls?.slice(1).join(" ")],
        ["Received from", task.final_url !== task.url && task.final_url],
        ["Status", task.http_status && String(task.http_status)],
        ["Label", task.label],
        ["Group", task.group],
        ["Batch", task.batch && String(task.batch)],
        ["Priority", task.priority],
        ["Profile", task.profile],
        ["Trust policy", task.policy],
        ["Checksum", task.checksum],
        ["Not before", task.not_before && formatMoment(task.not_before)],
        ["Window", task.window && windowText(task.window)],
        ["Deadline", task.deadline && formatMoment(task.deadline)],
        ["After tasks", task.after?.join(", ")],
        ["Receive limit", task.max_recv_rate > 0 && formatLimit(task.max_recv_rate)],
        ["Send limit", task.max_send_rate > 0 && formatLimit(task.max_send_rate)],
        ["Last attempt", task.last_attempt && attemptText(task.last_attempt)],
        ["Times", task.last_attempt && timesText(task.last_attempt)],
        ["Tries", task.attempts > 0 && formatCount(task.attempts)],
        ["Can be resumed", task.resumable === undefined ? "" : task.resumable ? "yes" : "no"],
        ["Added", formatMoment(task.created_at)],
        ["Started", task.started_at && formatMoment(task.started_at)],
        ["Ended", task.finished_at && formatMoment(task.finished_at)],
    ];
}

const windowText = ({ times = ["all day"], days = [], zone }) =>
    [times.join(", "), days.join(" "), zone].filter(Boolean).join(" ");

/** Where an attempt's request was sent, and over which protocol. */
const attemptText = ({ began_at, address, port, protocol, reused }) =>
    [formatMoment(began_at), address && `${address}, port ${port}`, protocol, reused && "kept connection"]
        .filter(Boolean)
        .join(", ");

/** When the steps of an attempt's request ended. */
const timesText = ({ name_lookup, connect, tls, first_byte, total }) =>
    Object.entries({ name: name_lookup, connected: connect, TLS: tls, "first byte": first_byte, total })
        .filter(([, seconds]) => seconds !== undefined)
        .map(([name, seconds]) => `${name} ${seconds < 10 ? `${Math.round(seconds * 1000)} ms` : formatDuration(Math.round(seconds))}`)
        .join(", ");

/** Changes only what is new: text that a reader has marked stays marked. */
function updateFacts(list, facts) {
    const names = [...list.querySelectorAll("dt")].map((node) => node.textContent);
    if (names.join() !== facts.map(([name]) => name).join()) {
        list.replaceChildren(...facts.flatMap(([name]) => [element("dt", { textContent: name }), element("dd")]));
    }
    const places = list.querySelectorAll("dd");
    facts.forEach(([, text], index) => setText(places[index], text));
}
