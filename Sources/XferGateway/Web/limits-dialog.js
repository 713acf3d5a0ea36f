import { byID, element, setText } from "./dom.js";
import { formatLimit, parseRate } from "./format.js";
import { inform, showError, warn } from "./notices.js";
import { call } from "./rpc.js";
import { hostText, limitTexts } from "./words.js";

const NUMBERS = ["max_active", "max_active_per_host"];
const RATES = ["max_recv_rate", "max_send_rate"];

const DONE = {
    "queue.set_limits": "Limits applied.", "queue.pause": "Queue paused.", "queue.resume": "Queue resumed.",
};

/** The queue's limits and what sets them, its timetable, and whether it is held back. */
export class LimitsDialog {
    constructor() {
        this.dialog = byID("limits-dialog");
        this.form = this.dialog.querySelector("form");
        this.form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.#change("queue.set_limits", () => this.#limits());
        });
        byID("hold-queue").addEventListener("click", () => this.#change("queue.pause"));
        byID("release-queue").addEventListener("click", () => this.#change("queue.resume"));
        byID("default-limits").addEventListener("click", () => this.#change("queue.set_limits", () =>
            Object.fromEntries([...NUMBERS, ...RATES, "order"].map((name) => [name, null]))));
    }

    async open() {
        showError(byID("limits-error"));
        this.dialog.showModal();
        await this.#read().catch((error) => showError(byID("limits-error"), error));
    }

    async #read() {
        const { limits, paused } = await call("queue.stats");
        for (const name of NUMBERS) this.#fill(name, limits[name]);
        for (const name of RATES) this.#fill(name, rateText(limits[name]));
        this.#fill("order", limits.order);
        byID("limits-now").replaceChildren(
            ...limitTexts(limits).map((textContent) => element("li", { textContent })));
        setText(byID("hold-state"), paused ? "Paused: no task starts." : "Not paused.");
        byID("hold-queue").disabled = paused;
        byID("release-queue").disabled = !paused;
        await this.#readTimetable();
        await this.#readHosts();
    }

    #fill(name, value) {
        const field = this.form.elements[name];
        field.value = value;
        field.dataset.before = value;
    }

    async #readTimetable() {
        const { settings } = await call("daemon.config");
        const { value, origin } = settings.find(({ key }) => key === "bandwidth.timetable");
        // The value is YAML text: a list of quoted entries such as "08:00 512K" or "sat,sun 08:00 512K".
        const entries = value.match(/(?:[a-z,-]+ )?\d\d:\d\d [^"',\]]+/g) ?? [];
        byID("timetable").replaceChildren(...entries.map((entry) => {
            const [rates, time, days] = entry.trim().split(/\s+/).reverse();
            const [receive, send] = rates.split("/");
            const text = timetableRate(receive);
            const begin = days ? `${days.replaceAll(",", ", ")} from ${time}` : `from ${time}`;
            return element("li", {
                textContent: `${begin}: ${send ? `receive ${text}, send ${timetableRate(send)}` : text}`,
            });
        }));
        setText(byID("timetable-origin"), entries.length > 0
            ? `From ${origin}. Limits that are set here override it.`
            : "No timetable is set. The configuration can have one in bandwidth.timetable.");
    }

    /** How many transfers each host may have at once. A fleet does not say. */
    async #readHosts() {
        const { hosts } = await call("queue.hosts").catch(() => ({ hosts: [] }));
        const entries = hosts.length > 0 ? hosts.map(hostText) : ["No hosts are in use."];
        byID("hosts").replaceChildren(...entries.map((textContent) => element("li", { textContent })));
    }

    /** Only what was changed: a limit that is set overrides the timetable. */
    #limits() {
        const changed = (name) => this.form.elements[name].value !== this.form.elements[name].dataset.before;
        const { elements } = this.form;
        return {
            ...Object.fromEntries(NUMBERS.filter(changed).map((name) => [name, elements[name].valueAsNumber])),
            ...Object.fromEntries(RATES.filter(changed).map((name) => [name, parseRate(elements[name].value)])),
            ...(changed("order") && { order: elements.order.value }),
        };
    }

    async #change(method, params = () => ({})) {
        showError(byID("limits-error"));
        try {
            const changes = params();
            if (method === "queue.set_limits" && Object.keys(changes).length === 0) return this.dialog.close();
            await call(method, changes);
            await this.#read();
            inform(DONE[method]);
            if (method === "queue.set_limits") this.dialog.close();
        } catch (error) {
            showError(byID("limits-error"), error);
        }
    }
}

/** Asks for the limit of one task's rate. */
export async function limitTask(id) {
    const dialog = byID("task-limit-dialog");
    const form = dialog.querySelector("form");
    const field = form.elements.rate;
    try {
        const { task } = await call("task.get", { id, fields: ["max_recv_rate", "max_send_rate", "kind"] });
        const name = task.kind === "upload" ? "max_send_rate" : "max_recv_rate";
        field.value = rateText(task[name]);
        showError(byID("task-limit-error"));
        form.onsubmit = async (event) => {
            event.preventDefault();
            try {
                await call("task.update", { id, changes: { [name]: parseRate(field.value) } });
                inform(`The limit of task ${id} was applied.`);
                dialog.close();
            } catch (error) {
                showError(byID("task-limit-error"), error);
            }
        };
        dialog.showModal();
        field.select();
    } catch (error) {
        warn(error);
    }
}

/** A rate of the timetable, which is written as the configuration has it. */
const timetableRate = (text) => formatLimit(text === "off" ? 0 : parseRate(text));

/** A rate as it is typed, exactly: `512Ki`, else `500K`. */
function rateText(bytes) {
    for (const [unit, size] of [["Gi", 1024 ** 3], ["Mi", 1024 ** 2], ["Ki", 1024]]) {
        if (bytes > 0 && bytes % size === 0) return `${bytes / size}${unit}`;
    }
    for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["K", 1e3]]) {
        if (bytes >= size && bytes % (size / 1000) === 0) return `${bytes / size}${unit}`;
    }
    return String(bytes);
}
