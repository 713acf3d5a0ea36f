import { byID, element, setText } from "./dom.js";
import { formatCount } from "./format.js";
import { showError } from "./notices.js";
import { call } from "./rpc.js";

/** Milliseconds between two readings while the dialog is open. */
const REFRESH = 2000;

/** The nodes of a fleet: who lives, who drains or is down, and how many tasks each has claimed. */
export class NodesDialog {
    #timer = null;
    #rows = new Map();
    /** The numbers of the latest reading that has begun, and that has ended. */
    #begun = 0;
    #ended = 0;
    #lastReadingFailed = false;

    constructor() {
        this.dialog = byID("nodes-dialog");
        this.dialog.addEventListener("close", () => clearInterval(this.#timer));
    }

    async open() {
        this.dialog.showModal();
        this.#timer = setInterval(() => this.#refresh(), REFRESH);
        await this.#guard(() => this.#read());
    }

    /** Reads again. The error of a button stays shown; the error of a reading, until one succeeds. */
    async #refresh() {
        if (this.#ended < this.#begun) return;
        try {
            await this.#read();
            if (this.#lastReadingFailed) showError(byID("nodes-error"));
            this.#lastReadingFailed = false;
        } catch (error) {
            showError(byID("nodes-error"), error);
            this.#lastReadingFailed = true;
        }
    }

    async #read() {
        const reading = ++this.#begun;
        let isOvertaken = false;
        const { nodes } = await call("fleet.nodes").finally(() => {
            isOvertaken = reading < this.#ended;
            this.#ended = Math.max(this.#ended, reading);
        });
        if (isOvertaken) return;
        const names = new Set(nodes.map(({ name }) => name));
        for (const [name, row] of this.#rows) {
            if (names.has(name)) continue;
            row.remove();
            this.#rows.delete(name);
        }
        nodes.forEach((node, index) => {
            if (!this.#rows.has(node.name)) this.#rows.set(node.name, this.#row(node.name));
            const row = this.#rows.get(node.name);
            this.#fill(row, node);
            const { children } = byID("nodes");
            if (children[index] !== row) byID("nodes").insertBefore(row, children[index] ?? null);
        });
    }

    /**
     * A row that stays as long as its node is listed: a button that is replaced between press and release gets no click,
     * and loses the focus.
     */
    #row(name) {
        const button = element("button", { type: "button", on: { click: () => this.#guard(async () => {
            await call(button.dataset.method, { node: name });
            await this.#read();
        }) } });
        const cells = Array.from({ length: 5 }, () => element("td"));
        return element("tr", {}, element("th", { scope: "row", textContent: name }), ...cells,
            element("td", { className: "buttons" }, button));
    }

    #fill(row, node) {
        row.className = `node-${node.state}`;
        const texts = [
            node.name, stateText(node), `${formatCount(node.leases)} of ${formatCount(node.slots)}`,
            formatCount(node.pinned), node.places.join(" "), node.version,
        ];
        texts.forEach((text, index) => setText(row.children[index], text));
        const button = row.querySelector("button");
        const [text, method] = node.draining ? ["Undrain", "fleet.undrain"] : ["Drain", "fleet.drain"];
        setText(button, text);
        button.setAttribute("aria-label", `${text} node ${node.name}`);
        button.dataset.method = method;
    }

    async #guard(action) {
        showError(byID("nodes-error"));
        try {
            await action();
        } catch (error) {
            showError(byID("nodes-error"), error);
        }
    }
}

function stateText({ state, draining, leases }) {
    if (!draining) return state;
    return leases === 0 ? `${state}, drained: it may be stopped` : `${state}, draining`;
}
