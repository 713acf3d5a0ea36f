import { call } from "./rpc.js";
import { Throttle } from "./throttle.js";

/** What a row shows. */
const FIELDS = [
    "state", "phase", "wait", "error", "progress", "url", "output", "dir", "label", "group", "batch", "priority",
    "final_path", "kind",
];
/** Tasks that are kept beside the visible ones, so that scrolling back shows them at once. */
const LARGEST_CACHE = 600;
/** Milliseconds between two requests for tasks. */
const PAUSE = 60;

/**
 * The tasks on screen and the last ones that were: reads them from the daemon, and again when events say they changed.
 *
 * Dispatches `change` when something that was read, or the progress of a visible task, is new, and `failure` with an
 * error in `detail`.
 */
export class TaskStore extends EventTarget {
    #tasks = new Map();
    #stale = new Set();
    #visible = new Set();
    #reading = new Throttle(() => this.#read(), PAUSE);

    get(id) { return this.#tasks.get(id); }

    /** These ids are on screen now: what is unknown of them is read. */
    show(ids) {
        this.#visible = new Set(ids);
        if (ids.some((id) => this.#isWanted(id))) this.#reading.request();
    }

    apply(event) {
        const id = event.task_id;
        const task = this.#tasks.get(id);
        if (event.type === "task.removed") {
            this.#tasks.delete(id);
        } else if (event.type === "task.progress") {
            if (!task) return;
            const { phase, received, sent, total, rate, eta } = event;
            const progress = { received, sent, total, rate, eta };
            this.#tasks.set(id, { ...task, state: "running", phase, progress });
            if (this.#visible.has(id)) this.#dispatchChange();
        } else if (id !== undefined) {
            this.refresh([id]);
        }
    }

    /** These tasks are not what was read. */
    refresh(ids) {
        for (const id of ids) {
            if (this.#visible.has(id)) this.#stale.add(id);
            else this.#tasks.delete(id);
        }
        if (this.#stale.size > 0) this.#reading.request();
    }

    /** Nothing is what was read; what is visible is read again. */
    refreshAll() { this.refresh([...new Set([...this.#tasks.keys(), ...this.#visible])]); }

    #isWanted(id) { return this.#stale.has(id) || !this.#tasks.has(id); }

    async #read() {
        const ids = [...this.#visible].filter((id) => this.#isWanted(id)).slice(0, 1000);
        this.#stale.clear();
        if (ids.length === 0) return;
        try {
            const { tasks } = await call("task.list", { filter: { ids }, fields: FIELDS, limit: 1000 });
            for (const id of ids) this.#tasks.delete(id);
            for (const task of tasks) this.#tasks.set(task.id, task);
        } catch (error) {
            // The list reads everything again when the connection is back.
            this.dispatchEvent(new CustomEvent("failure", { detail: error }));
            return;
        }
        this.#trim();
        this.#dispatchChange();
    }

    /** Map keeps the order of insertion, so the first ones were read longest ago. */
    #trim() {
        for (const id of this.#tasks.keys()) {
            if (this.#tasks.size <= LARGEST_CACHE) return;
            if (!this.#visible.has(id)) this.#tasks.delete(id);
        }
    }

    #dispatchChange() { this.dispatchEvent(new Event("change")); }
}
