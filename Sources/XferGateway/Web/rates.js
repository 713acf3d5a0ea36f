/** Samples of the last minutes, one a second: oldest first. */
class History {
    samples = [];

    constructor(length) { this.length = length; }

    push(rate) {
        this.samples.push(rate);
        if (this.samples.length > this.length) this.samples.shift();
    }
}

const TOTAL_SECONDS = 300;
const TASK_SECONDS = 60;
/** A task that reported nothing for so long moves no bytes. */
const SILENT_AFTER = 5_000;

/** How fast running tasks are, and were: sampled once a second from their `task.progress` events. */
export class Rates {
    total = new History(TOTAL_SECONDS);
    #tasks = new Map();

    /** The samples of a task of the last minute, or nothing if it does not run. */
    of(id) { return this.#tasks.get(id)?.history.samples ?? []; }

    apply(event) {
        if (event.type === "task.progress") {
            let task = this.#tasks.get(event.task_id);
            if (!task) this.#tasks.set(event.task_id, task = { history: new History(TASK_SECONDS) });
            task.rate = event.rate;
            task.time = performance.now();
        } else if (event.task_id !== undefined && event.type !== "task.response") {
            this.#tasks.delete(event.task_id);
        }
    }

    /** After a lost connection: tasks may have ended meanwhile. */
    forgetTasks() { this.#tasks.clear(); }

    /** Takes the next sample of everything. */
    sample() {
        const now = performance.now();
        let sum = 0;
        for (const task of this.#tasks.values()) {
            const rate = now - task.time > SILENT_AFTER ? 0 : task.rate;
            task.history.push(rate);
            sum += rate;
        }
        this.total.push(sum);
    }

    /** Bytes per second of all running tasks together. */
    get now() { return this.total.samples.at(-1) ?? 0; }
}
