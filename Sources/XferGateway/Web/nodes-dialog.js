import { byID, element, setText } from "./dom.js";
import { formatCount } from "./format.js";
import { showError } from "./notices.js";
import { call } from "./rpc.js";

/** Milliseconds between two readings while the dialog is open. */
const REFRESH = 2000;

/** The nodes of a fleet: who lives, who drains or is down, and how many tasks each has claimed. */
export class NodesDialog {
    #timer = null;

    constructor() {
        this.dialog = byID("nodes-dialog");
        this.dialog.addEventListener("close", () => clearInterval(this.#timer));
    }

    async open() {
        this.dialog.showModal();
        this.#timer = setInterval(() => this.#guard(() => this.#read()), REFRESH);
        await this.#guard(() => this.#read());
    }

    async #read() {
        const { nodes } = await call("fleet.nodes");
        const focused = document.activeElement?.ariaLabel;
        byID("nodes").replaceChildren(...nodes.map((node) => this.#row(node)));
        // The button that has the focus was replaced.
        if (focused) byID("nodes").querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
    }

    #row(node) {
        const [text, method] = node.draining ? ["Undrain", "fleet.undrain"] : ["Drain", "fleet.drain"];
        return element("tr", { className: `node-${node.state}` },
            element("th", { scope: "row", textContent: node.name }),
            element("td", { textContent: stateText(node) }),
            element("td", { textContent: `${formatCount(node.leases)} of ${formatCount(node.slots)}` }),
            element("td", { textContent: formatCount(node.pinned) }),
            element("td", { textContent: node.places.join(" ") }),
            element("td", { textContent: node.version }),
            element("td", { className: "buttons" }, element("button", {
                type: "button", textContent: text, "aria-label": `${text} node ${node.name}`,
                on: { click: () => this.#guard(async () => {
                    await call(method, { node: node.name });
                    await this.#read();
                }) },
            })));
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
