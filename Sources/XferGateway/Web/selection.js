/**
 * Which tasks the next command is for.
 *
 * The focused task is the one that keys move. Usually it is the whole selection; Shift and Ctrl make it larger, and all
 * tasks of the view are selected without knowing their ids.
 */
export class Selection extends EventTarget {
    focused = null;
    ids = new Set();
    isAll = false;
    #anchor = null;

    includes(id) { return this.isAll || this.ids.has(id); }

    get isEmpty() { return !this.isAll && this.ids.size === 0; }

    /** Selects one task alone. */
    choose(id) {
        this.#set(id, new Set([id]));
        this.#anchor = id;
    }

    /** Adds a task, or takes it out. */
    toggle(id) {
        const ids = new Set(this.isAll ? [] : this.ids);
        if (!ids.delete(id)) ids.add(id);
        this.#set(id, ids);
        this.#anchor = id;
    }

    /** Selects all from the last one that was chosen alone to this one, in the order of rows. */
    extend(id, order) {
        const from = order.indexOf(this.#anchor);
        const to = order.indexOf(id);
        if (from < 0 || to < 0) return this.choose(id);
        this.#set(id, new Set(order.ids.slice(Math.min(from, to), Math.max(from, to) + 1)));
    }

    chooseAll() {
        this.isAll = true;
        this.dispatchEvent(new Event("change"));
    }

    clear() {
        this.#set(null, new Set());
        this.#anchor = null;
    }

    /** Takes out what no longer exists. */
    forget(id) {
        if (this.focused === id) this.focused = null;
        if (this.ids.delete(id)) this.dispatchEvent(new Event("change"));
    }

    /** `task.pause` and its like take ids or a filter. */
    params(view) {
        if (this.isAll) return { filter: view.filter };
        return { ids: [...this.ids].slice(0, 10_000) };
    }

    #set(focused, ids) {
        this.focused = focused;
        this.ids = ids;
        this.isAll = false;
        this.dispatchEvent(new Event("change"));
    }
}
