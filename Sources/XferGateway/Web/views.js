import { byID, element, setText } from "./dom.js";
import { formatCount } from "./format.js";

/** What the list can show: states of tasks; in the order in which they start, or the latest first. */
const VIEWS = [
    { name: "All", states: [] },
    { name: "Running", states: ["running"] },
    { name: "Queued", states: ["queued"], order: "queue" },
    { name: "Waiting", states: ["waiting"] },
    { name: "Paused", states: ["paused", "staged"] },
    { name: "Failed", states: ["failed", "cancelled"] },
    { name: "Done", states: ["completed"] },
];

/** The row of views, and the group that the list is narrowed to. */
export class Views {
    #index = 0;
    #group = null;
    #counts = {};
    /** Whether the tasks are those of a fleet, in which no order of starts goes over all nodes. */
    isFleet = false;

    /** `show` is called with the view of `task.list` that is to be listed. */
    constructor(show) {
        this.show = show;
        this.buttons = VIEWS.map(({ name }, index) => {
            const count = element("span", { className: "count" });
            const click = () => this.choose(index);
            const button = element("button", { type: "button", on: { click } }, name, " ", count);
            return { button, count };
        });
        byID("views").append(...this.buttons.map(({ button }) => button));
        byID("all-groups").addEventListener("click", () => this.chooseGroup(null));
        this.#mark();
    }

    get name() { return VIEWS[this.#index].name; }

    get view() {
        const { states, order: wanted } = VIEWS[this.#index];
        const order = this.isFleet ? "desc" : wanted ?? "desc";
        const filter = { ...(states.length > 0 && { state: states }), ...(this.#group && { group: this.#group }) };
        return { filter: Object.keys(filter).length > 0 ? filter : { all: true }, order };
    }

    choose(index) {
        this.#index = index;
        this.#mark();
        this.show(this.view);
    }

    chooseGroup(name) {
        this.#group = name;
        this.choose(0);
    }

    showCounts(counts) {
        this.#counts = counts;
        this.buttons.forEach(({ count }, index) => setText(count, formatCount(this.#count(index))));
    }

    /** How many rows the view has, as far as the daemon's counts tell: they know no groups. */
    estimate() { return this.#group !== null ? 0 : this.#count(this.#index); }

    #count(index) {
        const { states } = VIEWS[index];
        const counts = Object.entries(this.#counts).filter(([state]) => states.length === 0 || states.includes(state));
        return counts.reduce((sum, [, count]) => sum + count, 0);
    }

    #mark() {
        this.buttons.forEach(({ button }, index) => button.setAttribute("aria-pressed", index === this.#index));
        byID("group-filter").hidden = this.#group === null;
        setText(byID("group-name"), this.#group ?? "");
    }
}
