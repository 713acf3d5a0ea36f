/**
 * Parses server-sent events (HTML Living Standard, section 9.2) from pieces of text.
 *
 * `EventSource` cannot send an Authorization header, hence a parser. Only `data` counts: xferd repeats the number and
 * the type of an event in it.
 */
export class EventParser {
    #rest = "";
    #data = [];

    /** The data of each event that is whole with this piece. */
    *push(text) {
        const lines = (this.#rest + text).split("\n");
        this.#rest = lines.pop();
        for (const line of lines.map((each) => each.replace(/\r$/, ""))) {
            if (line === "") {
                if (this.#data.length > 0) yield this.#data.join("\n");
                this.#data = [];
            } else if (line.startsWith("data:")) {
                this.#data.push(line.slice(5).replace(/^ /, ""));
            }
        }
    }
}
