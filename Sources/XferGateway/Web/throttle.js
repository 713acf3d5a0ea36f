/**
 * Runs an action soon after it was requested, never twice at the same time, and with a pause between two runs.
 *
 * However many events come in, the daemon gets few requests. A request during a run causes one more run.
 */
export class Throttle {
    #action;
    #pause;
    #isScheduled = false;
    #isRunning = false;
    #isWanted = false;

    /** `action` may be async; it handles its own errors. `pause` is in milliseconds. */
    constructor(action, pause) {
        this.#action = action;
        this.#pause = pause;
    }

    request() {
        if (this.#isRunning) {
            this.#isWanted = true;
        } else if (!this.#isScheduled) {
            this.#isScheduled = true;
            setTimeout(() => this.#run(), this.#pause);
        }
    }

    async #run() {
        this.#isScheduled = false;
        this.#isRunning = true;
        this.#isWanted = false;
        try {
            await this.#action();
        } finally {
            this.#isRunning = false;
            if (this.#isWanted) this.request();
        }
    }
}
