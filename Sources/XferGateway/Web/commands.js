import { byID, setText } from "./dom.js";
import { formatCount } from "./format.js";
import { inform, warn } from "./notices.js";
import { call, openFile } from "./rpc.js";

/** What each command says when it has changed tasks. */
const DONE = {
    "task.pause": "Paused", "task.resume": "Resumed", "task.cancel": "Cancelled", "task.retry": "Retried",
    "task.remove": "Removed", "task.move": "Moved", "task.commit": "Published",
};

/** States in which a command changes a task. */
const POSSIBLE = {
    pause: ["queued", "waiting", "running"],
    resume: ["paused", "waiting"],
    retry: ["failed", "cancelled", "waiting"],
    cancel: ["queued", "waiting", "running", "paused", "staged"],
    commit: ["staged"],
    remove: ["completed", "failed", "cancelled"],
    open: ["completed"],
    limit: ["queued", "waiting", "running", "paused"],
};

/** The commands for the selected tasks. */
export class Commands {
    constructor({ selection, order, store }) {
        Object.assign(this, { selection, order, store });
    }

    /** Whether a command can change the selection. Several tasks may be in several states: the daemon decides. */
    isPossible(command) {
        const { selection } = this;
        if (selection.isEmpty) return false;
        if (command === "move") {
            return this.order.view.order === "queue" && [...selection.ids].some((id) => this.order.indexOf(id) >= 0);
        }
        if (selection.isAll || selection.ids.size > 1) return command !== "open" && command !== "limit";
        const task = this.store.get([...selection.ids][0]);
        if (command === "open" && !task?.final_path) return false;
        return task !== undefined && POSSIBLE[command].includes(task.state);
    }

    pause() { return this.#run("pause", "task.pause"); }
    resume() { return this.#run("resume", "task.resume"); }
    commit() { return this.#run("commit", "task.commit"); }

    /** A waiting task is tried now, a failed one again. */
    retry() {
        const [id] = this.selection.ids;
        const isWaiting = this.selection.ids.size === 1 && this.store.get(id)?.state === "waiting";
        const isSuspect = isWaiting && this.store.get(id).wait?.reason === "suspect";
        return this.#run("retry", isWaiting && !isSuspect ? "task.resume" : "task.retry");
    }

    toggle() { return this.isPossible("pause") ? this.pause() : this.resume(); }

    async cancel() {
        if (!this.isPossible("cancel")) return;
        if (await ask("cancel-dialog", this.#countText)) await this.#run("cancel", "task.cancel");
    }

    async remove() {
        if (!this.isPossible("remove")) return;
        byID("remove-files").checked = false;
        if (!await ask("remove-dialog", this.#countText)) return;
        await this.#run("remove", "task.remove", { files: byID("remove-files").checked });
    }

    async open() {
        if (!this.isPossible("open")) return;
        const [id] = this.selection.ids;
        try {
            await openFile(id, this.store.get(id).final_path.split("/").at(-1));
        } catch (error) {
            warn(error);
        }
    }

    /** Moves the selection in the queue: `top`, `bottom`, or past its neighbour, `up` and `down`. */
    async move(where) {
        if (!this.isPossible("move")) return;
        const rows = [...this.selection.ids].map((id) => this.order.indexOf(id)).filter((row) => row >= 0);
        if (rows.length === 0) return;
        const ids = rows.sort((left, right) => left - right).map((row) => this.order.ids[row]);
        if (where === "top" || where === "bottom") return this.moveTo(ids, { to: where });
        const target = this.order.ids[where === "up" ? rows[0] - 1 : rows.at(-1) + 1];
        if (target !== undefined) await this.moveTo(ids, { to: where === "up" ? "before" : "after", target });
    }

    async moveTo(ids, place) {
        await this.#call("task.move", { ids, ...place });
        this.order.refresh();
    }

    get #countText() {
        if (this.selection.isAll) return "All tasks of this view";
        const count = this.selection.ids.size;
        return count === 1 ? `Task ${[...this.selection.ids][0]}` : `${formatCount(count)} tasks`;
    }

    async #run(command, method, more = {}) {
        if (!this.isPossible(command)) return;
        const { selection } = this;
        await this.#call(method, { ...selection.params(this.order.view), ...more });
        if (method === "task.remove" && selection.isAll) selection.clear();
        this.store.refresh([...selection.ids]);
    }

    async #call(method, params) {
        try {
            inform(resultText(DONE[method], await call(method, params)));
        } catch (error) {
            warn(error);
        }
    }
}

/** What became of the tasks that a command was for. */
function resultText(verb, result) {
    const changed = result.changed_count ?? result.changed.length;
    const parts = [`${verb}: ${formatCount(changed)}.`];
    const unchanged = result.unchanged_count ?? result.unchanged.length;
    if (unchanged > 0) parts.push(`Unchanged: ${formatCount(unchanged)}.`);
    const reason = result.unchanged?.find((each) => each.reason)?.reason;
    if (reason) parts.push(`Reason: ${reason}.`);
    if (result.missing?.length) parts.push(`Not found: ${formatCount(result.missing.length)}.`);
    const { deleted, kept = [] } = result.files ?? {};
    if (deleted !== undefined) parts.push(`Files deleted: ${formatCount(deleted)}.`);
    if (kept.length > 0) parts.push(`Kept: ${kept[0].path}, because ${kept[0].reason}.`);
    return parts.join(" ");
}

/** Asks a question of index.html about the tasks; true is yes. */
function ask(dialogID, subject) {
    const dialog = byID(dialogID);
    setText(dialog.querySelector(".subject"), subject);
    dialog.returnValue = "";
    dialog.showModal();
    return new Promise((resolve) => {
        dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    });
}
