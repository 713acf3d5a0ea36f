import { byID, element, setText } from "./dom.js";
import { formatCount, formatShare } from "./format.js";
import { showError } from "./notices.js";
import { call } from "./rpc.js";
import { limitText, STATES } from "./words.js";

const PAGE = 50;

/** Groups and batches with their counts. */
export class GroupsDialog {
    #cursor = null;

    /** `showGroup` is called with the name of a group whose tasks are to be listed. */
    constructor(showGroup) {
        this.showGroup = showGroup;
        this.dialog = byID("groups-dialog");
        byID("more-groups").addEventListener("click", () => this.#guard(() => this.#readPage()));
    }

    async open() {
        this.dialog.showModal();
        await this.#guard(() => this.#readAnew());
    }

    async #readAnew() {
        byID("groups").replaceChildren();
        this.#cursor = null;
        await this.#readPage();
    }

    async #readPage() {
        const { groups, next_cursor: cursor } =
            await call("group.list", { limit: PAGE, ...(this.#cursor && { cursor: this.#cursor }) });
        this.#cursor = cursor;
        for (const group of groups) byID("groups").append(this.#row(group, await batchOf(group)));
        byID("more-groups").hidden = cursor === null;
        byID("no-groups").hidden = byID("groups").children.length > 0;
    }

    #row(group, batch) {
        const state = [group.paused ? "paused" : "not paused", limitText(group)].filter(Boolean).join(", ");
        const button = (text, click) => element("button", {
            type: "button", textContent: text, "aria-label": `${text} group ${group.name}`, on: { click },
        });
        const method = group.paused ? "group.resume" : "group.pause";
        return element("tr", {},
            element("th", { scope: "row", textContent: group.name }),
            element("td", { textContent: countsText(group.counts) }),
            element("td", { textContent: batch ? batchText(batch) : "" }),
            element("td", { textContent: state }),
            element("td", { className: "buttons" },
                button("Show", () => {
                    this.dialog.close();
                    this.showGroup(group.name);
                }),
                button(group.paused ? "Resume" : "Pause", () => this.#guard(async () => {
                    await call(method, { name: group.name, owner: group.owner });
                    await this.#readAnew();
                }))));
    }

    async #guard(action) {
        showError(byID("groups-error"));
        try {
            await action();
        } catch (error) {
            setText(byID("groups-error"), "");
            showError(byID("groups-error"), error);
        }
    }
}

/** The batch of a group; it may have been forgotten. */
const batchOf = ({ batch: id }) =>
    (id ? call("batch.get", { id }).then(({ batch }) => batch, () => null) : null);

const countsText = (counts) => Object.entries(counts).filter(([, count]) => count > 0)
    .map(([state, count]) => `${STATES[state] ?? state} ${formatCount(count)}`).join(", ") || "no tasks";

const batchText = ({ id, finished, total, skipped }) => [
    `batch ${id}: ${formatCount(finished)} of ${formatCount(total)} ended (${formatShare(finished / total)})`,
    skipped > 0 ? `${formatCount(skipped)} failed` : null,
].filter(Boolean).join(", ");
