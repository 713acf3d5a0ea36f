import { Chart } from "./chart.js";
import { element, setText } from "./dom.js";
import { formatDuration, formatRate, formatShare, formatSize } from "./format.js";
import { nameOf, PHASES, STATES, waitText } from "./words.js";

const SPARKLINE_SECONDS = 60;

/** A row of the list. It is an option of a listbox, so it holds no control: commands are in the toolbar. */
export class TaskRow {
    constructor(id) {
        this.id = id;
        this.name = element("span", { className: "name" });
        this.note = element("span", { className: "note" });
        this.figures = element("span", { className: "figures" });
        this.bar = element("span");
        this.spark = new Chart("spark");
        this.node = element("div", { className: "row", role: "option", id: `task-${id}` },
            element("span", { className: "grip", "aria-hidden": "true" }),
            element("span", { className: "mark", "aria-hidden": "true" }),
            this.name, this.note, this.spark.node, this.figures,
            element("span", { className: "meter", "aria-hidden": "true" }, this.bar));
    }

    /** Puts the row in its place of the list. */
    place(index, top, size) {
        this.node.style.setProperty("transform", `translateY(${top}px)`);
        this.node.setAttribute("aria-posinset", index + 1);
        this.node.setAttribute("aria-setsize", size);
    }

    render(task, { isSelected, isFocused, samples }) {
        this.node.setAttribute("aria-selected", isSelected);
        this.node.classList.toggle("focused", isFocused);
        this.node.dataset.state = task?.state ?? "unknown";
        setText(this.name, task ? nameOf(task) : `task ${this.id}`);
        setText(this.note, task ? noteOf(task) : "…");
        setText(this.figures, task ? figuresOf(task) : "");
        this.bar.style.setProperty("width", `${(task ? shareOf(task) ?? 0 : 0) * 100}%`);
        this.spark.draw(samples, SPARKLINE_SECONDS);
    }
}

/** How much of a task is done, from 0 to 1; null while its length is unknown. */
export function shareOf({ state, progress, kind }) {
    if (state === "completed") return 1;
    if (!progress || !progress.total) return null;
    return Math.min(1, (kind === "upload" ? progress.sent : progress.received) / progress.total);
}

/** The state of a task and what is behind it: why it waits or failed, what it does. */
export function noteOf(task) {
    const parts = task.state === "waiting" && task.wait ? [] : [STATES[task.state] ?? task.state];
    if (task.wait) parts.push(waitText(task.wait));
    if (task.state === "running") parts.push(task.phase === "transferring" ? amountOf(task) : PHASES[task.phase]);
    if (task.error && task.state !== "cancelled") parts.push(task.error.message);
    if (task.group) parts.push(`group ${task.group}`);
    if (task.priority !== "normal" && task.state === "queued") parts.push(`${task.priority} priority`);
    return parts.filter(Boolean).join(" · ");
}

/** `62 MiB of 286 MiB`. */
export function amountOf({ progress, kind }) {
    if (!progress) return "";
    const done = formatSize(kind === "upload" ? progress.sent : progress.received);
    return progress.total ? `${done} of ${formatSize(progress.total)}` : done;
}

function figuresOf(task) {
    const { state, progress } = task;
    const share = shareOf(task);
    const parts = [];
    if (state !== "completed" && share !== null) parts.push(formatShare(share));
    if (state === "running") {
        parts.push(formatRate(progress.rate));
        if (progress.eta !== null) parts.push(formatDuration(progress.eta));
    } else if (progress?.total) {
        parts.push(formatSize(progress.total));
    }
    return parts.join(" · ");
}
