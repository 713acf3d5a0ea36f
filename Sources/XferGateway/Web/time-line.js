import { element } from "./dom.js";
import { formatMoment } from "./format.js";
import { errorText } from "./notices.js";
import { call } from "./rpc.js";
import { eventText } from "./words.js";

/** Events that are shown; a task that was tried for months has more. */
const LONGEST = 500;

/** What happened to one task, the latest first: the events that are kept, then live ones. */
export class TimeLine {
    #id = null;

    constructor(node) { this.node = node; }

    async show(id) {
        this.#id = id;
        this.node.replaceChildren();
        let seq = 0;
        try {
            for (;;) {
                const page = await call("events.since", { seq, task_ids: [id], limit: LONGEST });
                if (this.#id !== id) return;
                if (page.gap) {
                    seq = page.first_seq - 1;
                    continue;
                }
                page.events.forEach((event) => this.append(event));
                if (page.last_seq === seq) return;
                seq = page.last_seq;
            }
        } catch (error) {
            this.node.replaceChildren(element("li", { textContent: errorText(error) }));
        }
    }

    append(event) {
        if (!event.seq || this.node.querySelector(`[data-seq="${event.seq}"]`)) return;
        const line = element("li", { "data-seq": event.seq },
            element("time", { dateTime: event.time, textContent: formatMoment(event.time) }),
            " ", element("span", { textContent: eventText(event) }));
        // Live events may come before the kept ones are read.
        const older = [...this.node.children].find((other) => Number(other.dataset.seq) < event.seq);
        this.node.insertBefore(line, older ?? null);
        while (this.node.children.length > LONGEST) this.node.lastElementChild.remove();
    }
}
