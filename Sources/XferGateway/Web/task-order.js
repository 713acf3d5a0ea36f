import { call } from "./rpc.js";
import { Throttle } from "./throttle.js";

/** Ids in one page: a page costs about what ten visible tasks cost. */
const PAGE = 1000;
/** Milliseconds between two corrections of the order. */
const PAUSE = 200;
/** More uncertain tasks than this are not looked up: the order is read anew. */
const MOST_UNCERTAIN = 5000;

/**
 * Which task stands in which row: the ids of a view, as far down as anyone has scrolled.
 *
 * A view is `{ filter, order }` of `task.list`. Ids are read page by page and corrected by events, so a change costs a
 * look-up of the tasks it is about and not another reading of the list.
 *
 * Dispatches `change` when a row has another task, and `failure` with an error in `detail`.
 */
export class TaskOrder extends EventTarget {
    ids = [];
    /** Whether `ids` are all of the view. Before the first view there is nothing to read. */
    isComplete = true;
    #view;
    #cursor = null;
    /** A new number whenever what was read before no longer counts. */
    #generation = 0;
    #paging = null;
    #uncertain = new Set();
    #correcting = new Throttle(() => this.#correct(), PAUSE);

    constructor(view) {
        super();
        this.#view = view;
    }

    get view() { return this.#view; }

    /** Another view, or the same from its first row on. */
    show(view) {
        this.clear();
        this.#view = view;
        this.isComplete = false;
        return this.reach(0);
    }

    /** Forgets all rows, and reads none until the next `show`. */
    clear() {
        this.#generation += 1;
        this.#uncertain.clear();
        this.ids = [];
        this.#cursor = null;
        this.isComplete = true;
        this.#dispatch("change");
    }

    /** Reads pages until row `index` is known, or the view has ended. */
    async reach(index) {
        while (!this.isComplete && this.ids.length <= index) {
            this.#paging ??= this.#readPage().finally(() => { this.#paging = null; });
            if (!await this.#paging) return;
        }
    }

    apply(event) {
        if (event.task_id === undefined || event.type === "task.progress") return;
        if (this.#holdsAll && event.type !== "task.added" && event.type !== "task.removed") return;
        this.#uncertain.add(event.task_id);
        this.#correcting.request();
    }

    /** The queue may have another order, for instance after task.move. Of other views the order never changes. */
    refresh() {
        if (this.#view.order === "queue") this.#correcting.request();
    }

    get #holdsAll() { return this.#view.filter.all === true; }

    async #readPage() {
        const generation = this.#generation;
        const page = await this.#list({ ...this.#view, ...(this.#cursor && { cursor: this.#cursor }) });
        if (generation !== this.#generation) return true;
        if (!page) return false;
        this.#append(page);
        this.#dispatch("change");
        return true;
    }

    #append({ tasks, next_cursor: cursor }) {
        const known = this.#view.order === "queue" ? new Set(this.ids) : new Set();
        this.ids.push(...tasks.map(({ id }) => id).filter((id) => !known.has(id)));
        this.#cursor = cursor;
        this.isComplete = cursor === null;
    }

    async #correct() {
        const uncertain = [...this.#uncertain];
        this.#uncertain.clear();
        if (this.#view.order === "queue") {
            await this.#readQueueAgain();
        } else if (uncertain.length > MOST_UNCERTAIN) {
            await this.show(this.#view);
        } else {
            await this.#lookUp(uncertain);
        }
    }

    /** Ids fall from row to row, so a task's place follows from its id once it is known to be in the view. */
    async #lookUp(uncertain) {
        // A page that is on its way may be older than the events.
        await this.#paging;
        const generation = this.#generation;
        const last = this.isComplete ? 0 : this.ids.at(-1) ?? Infinity;
        const changed = uncertain.filter((id) => id >= last);
        const { all, ...conditions } = this.#view.filter;
        const members = new Set();
        for (let start = 0; start < changed.length; start += PAGE) {
            const filter = { ...conditions, ids: changed.slice(start, start + PAGE) };
            const page = await this.#list({ filter, order: this.#view.order });
            if (generation !== this.#generation) return;
            if (!page) return uncertain.forEach((id) => this.#uncertain.add(id));
            for (const { id } of page.tasks) members.add(id);
        }
        const known = new Set(changed);
        const isSame = changed.every((id) => members.has(id) === this.includes(id));
        if (isSame) return;
        this.ids = [...this.ids.filter((id) => !known.has(id)), ...members].sort((left, right) => right - left);
        this.#dispatch("change");
    }

    /** Whether a task is in the view, as far as that is known. Only of views that are ordered by id. */
    includes(id) { return this.ids[this.#place(id)] === id; }

    /** The row of a task, or -1. */
    indexOf(id) {
        if (this.#view.order === "queue") return this.ids.indexOf(id);
        const place = this.#place(id);
        return this.ids[place] === id ? place : -1;
    }

    /** The first row whose id is not greater. */
    #place(id) {
        let low = 0;
        let high = this.ids.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.ids[middle] > id) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    async #readQueueAgain() {
        const generation = ++this.#generation;
        const wanted = this.ids.length;
        const ids = [];
        let cursor = null;
        do {
            const page = await this.#list({ ...this.#view, ...(cursor && { cursor }) });
            if (!page || generation !== this.#generation) return;
            ids.push(...page.tasks.map(({ id }) => id));
            cursor = page.next_cursor;
        } while (cursor !== null && ids.length < wanted);
        this.ids = [...new Set(ids)];
        this.#cursor = cursor;
        this.isComplete = cursor === null;
        this.#dispatch("change");
    }

    async #list(params) {
        try {
            return await call("task.list", { ...params, fields: ["id"], limit: PAGE });
        } catch (error) {
            this.#dispatch("failure", error);
            return null;
        }
    }

    #dispatch(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}
