import { Chart } from "./chart.js";
import { byID, setText } from "./dom.js";
import { formatRate } from "./format.js";
import { readStatus } from "./rpc.js";
import { Throttle } from "./throttle.js";
import { NETWORKS } from "./words.js";

/** The head of the page: connection, network, rates, and what is wrong with the daemon. */
export class Summary extends EventTarget {
    counts = {};
    #chart = new Chart("total");
    #reading = new Throttle(() => this.#read(), 400);

    constructor(rates) {
        super();
        this.rates = rates;
        byID("rate-chart").append(this.#chart.node);
    }

    /** Reads `daemon.status` again, soon. Dispatches `change`, or `silence` if the daemon does not answer. */
    refresh() { this.#reading.request(); }

    apply(event) {
        if (event.type !== "task.progress") this.refresh();
    }

    /** `status` is the result of `daemon.status`. */
    show(status) {
        this.counts = status.counts;
        setText(byID("network"), NETWORKS[status.network] ?? status.network);
        const problems = [
            status.degraded ? `Degraded: ${status.degraded_reason ?? "the database cannot be written"}.` : "",
            status.config_problem ? `The configuration was not applied: ${status.config_problem}` : "",
            status.shutting_down ? "xferd is about to stop and accepts no new work." : "",
        ].filter(Boolean);
        byID("problems").hidden = problems.length === 0;
        setText(byID("problems"), problems.join(" "));
        this.dispatchEvent(new Event("change"));
    }

    showConnection(isConnected, reason = "") {
        document.body.classList.toggle("disconnected", !isConnected);
        setText(byID("connection"), isConnected ? "live" : `Not connected: ${reason}. Trying again…`);
    }

    /** Called once a second. */
    drawRates() {
        setText(byID("rate"), formatRate(this.rates.now));
        this.#chart.draw(this.rates.total.samples, this.rates.total.length);
    }

    async #read() {
        try {
            this.show(await readStatus());
        } catch {
            this.dispatchEvent(new Event("silence"));
        }
    }
}
