import { readStatus, RPCError, Unauthorized, Unreachable } from "./rpc.js";
import { credentials } from "./session.js";
import { EventParser } from "./sse.js";

/** Milliseconds between two attempts to connect. */
const SHORTEST_DELAY = 250;
const LONGEST_DELAY = 5_000;

/** Whether an error only says that the connection broke, in the words of the browser. */
const isSilence = (error) => error instanceof TypeError || error instanceof Unreachable || error.name === "AbortError";

/**
 * The daemon's events, over as many connections as it takes.
 *
 * Dispatches
 * - `connected` with `detail.status` (`daemon.status`), before the first event of a connection,
 * - `event` with the event as `detail`, durable ones exactly once and in order,
 * - `disconnected` with `detail.reason`,
 * - `unauthorized` and `forbidden`, after which it has stopped.
 */
export class EventStream extends EventTarget {
    #lastSeq = null;
    #storeID = null;
    #connection = null;
    #isStopped = false;
    #wake = () => {};

    constructor() {
        super();
        // A network that returned is worth an attempt at once.
        addEventListener("online", () => this.#wake());
    }

    /** Runs until `stop`, or until the daemon refuses the token. */
    async run() {
        let delay = SHORTEST_DELAY;
        while (!this.#isStopped) {
            let reason;
            try {
                await this.#connect(() => { delay = SHORTEST_DELAY; });
                reason = "xferd ended the stream of events";
            } catch (error) {
                if (error instanceof Unauthorized) return this.#stop("unauthorized");
                if (error instanceof RPCError && error.isForbidden) return this.#stop("forbidden");
                reason = isSilence(error) ? "xferd does not answer" : error.message;
            }
            if (this.#isStopped) return;
            this.#dispatch("disconnected", { reason });
            await new Promise((resolve) => {
                this.#wake = resolve;
                setTimeout(resolve, delay);
            });
            delay = Math.min(delay * 2, LONGEST_DELAY);
        }
    }

    stop() {
        this.#isStopped = true;
        this.#connection?.abort();
        this.#wake();
    }

    /** Gives up a connection that is silent although it should not be, and makes another one. */
    reconnect() { this.#connection?.abort(); }

    async #connect(hasConnected) {
        const status = await readStatus();
        // Numbers of another database say nothing about this one's events.
        if (status.store_id !== this.#storeID) this.#lastSeq = null;
        this.#storeID = status.store_id;
        this.#connection = new AbortController();
        const address = this.#lastSeq === null ? "/events" : `/events?since=${this.#lastSeq}`;
        const answer = await fetch(address, { ...credentials(), signal: this.#connection.signal });
        if (answer.status === 401) throw new Unauthorized();
        // The database was replaced by an older one of itself.
        if (answer.status === 400) this.#lastSeq = null;
        if (!answer.ok) throw new Error((await answer.text()).trim() || `the daemon answered ${answer.status}`);
        hasConnected();
        // A listener that reads the state now misses nothing: later changes come as events.
        this.#dispatch("connected", { status });
        await this.#read(answer.body);
    }

    async #read(body) {
        const parser = new EventParser();
        const reader = body.pipeThrough(new TextDecoderStream()).getReader();
        for (;;) {
            const { value, done } = await reader.read();
            if (done) return;
            for (const data of parser.push(value)) {
                const event = JSON.parse(data);
                if (event.type === "events.overflow") return;
                if (event.seq) this.#lastSeq = event.seq;
                this.#dispatch("event", event);
            }
        }
    }

    #stop(type) {
        if (!this.#isStopped) this.#dispatch(type);
        this.#isStopped = true;
    }

    #dispatch(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}
