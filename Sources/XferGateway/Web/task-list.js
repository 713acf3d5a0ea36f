import { element, setText } from "./dom.js";
import { formatCount } from "./format.js";
import { TaskRow } from "./task-row.js";

/** Browsers give up on elements higher than some 17 million pixels. Longer lists scroll by more than a row a row. */
const HIGHEST = 8_000_000;
/** Rows beyond each edge, so that a quick scroll shows them at once. */
const MARGIN = 6;

/**
 * A list of any length: only the rows in sight are in the document.
 *
 * The listbox keeps the keyboard's focus and names its focused option (WAI-ARIA, `aria-activedescendant`).
 */
export class TaskList {
    #rows = new Map();
    #isDrawing = false;
    #rowHeight = 0;
    #count = 0;
    /** Where the focused task was last: it may have left the view since. */
    #focusedRow = 0;

    /** `estimate` tells how many rows there are while the order is not read to its end. */
    constructor(node, { order, store, selection, rates, estimate }) {
        Object.assign(this, { node, order, store, selection, rates, estimate });
        this.spacer = element("div", { className: "spacer", role: "presentation" });
        node.append(this.spacer);
        node.addEventListener("scroll", () => this.draw(), { passive: true });
        new ResizeObserver(() => this.#measure()).observe(node);
        this.onDraw = () => {};
        order.addEventListener("change", () => this.draw());
        store.addEventListener("change", () => this.draw());
        selection.addEventListener("change", () => this.draw());
        this.#measure();
    }

    /** Draws with the next frame, however often it is called before. */
    draw() {
        if (this.#isDrawing) return;
        this.#isDrawing = true;
        requestAnimationFrame(() => {
            this.#isDrawing = false;
            this.#draw();
        });
    }

    /** Moves the focus by rows; with `isExtending` the rows between are selected, too. */
    async move(step, isExtending = false) {
        const row = this.order.indexOf(this.selection.focused);
        if (row >= 0) await this.focusRow(row + step, isExtending);
        else await this.focusRow(this.#focusedRow + (step < 0 ? step : step - 1));
    }

    /** Focuses the row, or the first or last one if there is none of that number. */
    async focusRow(index, isExtending = false) {
        if (index >= this.order.ids.length) await this.order.reach(index);
        const row = Math.max(0, Math.min(index, this.order.ids.length - 1));
        const id = this.order.ids[row];
        if (id === undefined) return;
        if (isExtending) this.selection.extend(id, this.order);
        else this.selection.choose(id);
        this.#focusedRow = row;
        this.#scrollTo(row);
    }

    get count() { return this.#count; }

    get hasRows() { return this.#rows.size > 0; }

    /** Rows that are wholly in sight. */
    get pageSize() { return Math.max(1, Math.floor(this.node.clientHeight / this.#rowHeight)); }

    /** The task whose row is at a height of the window, and whether it is its lower half. */
    rowAt(y) {
        const hit = [...this.#rows.values()].find(({ node }) => {
            const box = node.getBoundingClientRect();
            return y >= box.top && y < box.bottom;
        });
        if (!hit) return null;
        const box = hit.node.getBoundingClientRect();
        return { id: hit.id, node: hit.node, isLower: y > (box.top + box.bottom) / 2 };
    }

    #measure() {
        const probe = new TaskRow(0).node;
        probe.removeAttribute("id");
        this.spacer.append(probe);
        this.#rowHeight = Math.max(1, probe.offsetHeight);
        probe.remove();
        this.draw();
    }

    /** The rows between which the list is scrolled, and the pixel at which the first of them is. */
    #window() {
        const visible = this.node.clientHeight / this.#rowHeight;
        const height = Math.min(this.#count * this.#rowHeight, HIGHEST);
        const scrollable = height - this.node.clientHeight;
        const top = Math.min(this.node.scrollTop, Math.max(0, scrollable));
        const first = scrollable > 0 ? (top / scrollable) * (this.#count - visible) : 0;
        return { height, top, first, visible };
    }

    #draw() {
        const { order } = this;
        this.#count = order.isComplete ? order.ids.length : Math.max(order.ids.length + 1, this.estimate());
        const { height, top, first, visible } = this.#window();
        this.spacer.style.setProperty("height", `${height}px`);
        const start = Math.max(0, Math.floor(first) - MARGIN);
        const end = Math.min(this.#count, Math.ceil(first + visible) + MARGIN);
        if (end > order.ids.length && !order.isComplete) order.reach(end);

        const ids = order.ids.slice(start, end);
        this.store.show(ids);
        const shown = new Set(ids);
        for (const [id, row] of this.#rows) {
            if (shown.has(id)) continue;
            row.node.remove();
            this.#rows.delete(id);
        }
        ids.forEach((id, offset) => {
            let row = this.#rows.get(id);
            if (!row) this.#rows.set(id, row = new TaskRow(id));
            // Screen readers read in the order of the document.
            const next = this.spacer.children[offset];
            if (next !== row.node) this.spacer.insertBefore(row.node, next ?? null);
            const index = start + offset;
            row.place(index, top + (index - first) * this.#rowHeight, this.#count);
            row.render(this.store.get(id), {
                isSelected: this.selection.includes(id),
                isFocused: this.selection.focused === id,
                samples: this.rates.of(id),
            });
        });
        const focused = this.selection.focused;
        if (shown.has(focused)) this.#focusedRow = order.indexOf(focused);
        else if (focused === null && this.selection.isEmpty) this.#focusedRow = 0;
        if (shown.has(focused)) this.node.setAttribute("aria-activedescendant", `task-${focused}`);
        else this.node.removeAttribute("aria-activedescendant");
        this.onDraw();
    }

    #scrollTo(row) {
        const { top, first, visible } = this.#window();
        const scale = this.#count > visible ? this.#scrollable() / (this.#count - visible) : 0;
        if (row < first) this.node.scrollTop = row * scale;
        else if (row + 1 > first + visible) this.node.scrollTop = Math.ceil((row + 1 - visible) * scale);
        else this.node.scrollTop = top;
    }

    #scrollable() { return Math.min(this.#count * this.#rowHeight, HIGHEST) - this.node.clientHeight; }
}

/** Says why there are no rows in sight. */
export function explainEmptiness(node, list, viewName) {
    const known = list.order.ids.length;
    node.hidden = list.hasRows;
    if (!list.order.isComplete) {
        setText(node, known > 0 ? `Reading the list: ${formatCount(known)} of ${formatCount(list.count)}…` : "");
    } else {
        const isAll = viewName === "All";
        setText(node, isAll ? "No tasks yet. Press a, or drop URLs here." : `No tasks in the view ${viewName}.`);
    }
}
