import { byID, element, setText, takesText } from "./dom.js";
import { formatCount } from "./format.js";
import { inform, showError } from "./notices.js";
import { call } from "./rpc.js";

const URL_PATTERN = /^https?:\/\/\S+$/i;
/** An option of a list that `xferctl add -i` reads: below a URL, `name=value`. */
const OPTION_PATTERN = /^[a-z][a-z0-9-]*[ \t]*=/i;
/** `task.add` takes so many in one transaction. */
const MOST_TASKS = 10_000;

/** The dialog that adds tasks, and the page's paste and drop. */
export class AddDialog {
    #key = null;

    constructor() {
        this.dialog = byID("add-dialog");
        this.form = this.dialog.querySelector("form");
        this.form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.#submit();
        });
        // Another request needs another key, or the daemon refuses it as a key that is in use.
        this.form.addEventListener("input", () => {
            this.#key = null;
            this.#describe();
        });
        this.#acceptPaste();
        this.#acceptDrop();
    }

    /** Opens the dialog, with URLs beside those that are in it, or with what is wrong with them. */
    open(urls = [], problem = null) {
        const field = this.form.elements.urls;
        if (urls.length > 0) {
            field.value = [...urlsOf(field.value), ...urls].join("\n") + "\n";
            this.#key = null;
        }
        showError(byID("add-error"), problem);
        this.#describe();
        this.#offerProfiles();
        if (!this.dialog.open) this.dialog.showModal();
        field.focus();
    }

    #describe() {
        const count = urlsOf(this.form.elements.urls.value).length;
        const isSingle = count <= 1;
        for (const name of ["output", "checksum"]) this.form.elements[name].disabled = !isSingle;
        this.form.elements.batch.disabled = isSingle;
        setText(byID("add-count"), count === 0 ? "" : count === 1 ? "1 task" : `${formatCount(count)} tasks`);
    }

    /** Names to choose from. Only operators may list profiles; others type the name. */
    async #offerProfiles() {
        const names = await call("profile.list").then(({ profiles }) => profiles.map(({ name }) => name), () => []);
        byID("profiles").replaceChildren(...names.map((value) => element("option", { value })));
    }

    async #submit() {
        showError(byID("add-error"));
        const button = this.form.querySelector("[type=submit]");
        button.disabled = true;
        try {
            inform(await this.#add());
            this.form.reset();
            this.#key = null;
            this.dialog.close();
        } catch (error) {
            showError(byID("add-error"), error);
        } finally {
            button.disabled = false;
        }
    }

    /** Adds what the form says, and tells what was added. */
    async #add() {
        const fields = this.form.elements;
        const urls = urlsOf(fields.urls.value);
        const problem = problemOf(fields.urls.value);
        if (problem) throw problem;
        if (urls.length === 0) throw new Error("Write at least one URL, each on a line of its own.");
        if (urls.length > MOST_TASKS) {
            throw new Error(`${formatCount(MOST_TASKS)} URLs can be added at once. Add the rest afterwards.`);
        }
        const options = optionsOf(fields);
        // With a key it is safe to press the button again after a lost answer.
        this.#key ??= randomKey();
        if (fields.batch.checked && !fields.batch.disabled) {
            const { group, ...rest } = options;
            if (group) throw new Error("A batch is a group of its own: leave the field Group empty.");
            const { batch, errors } = await call("batch.add", { tasks: urls, options: rest, client_key: this.#key });
            const added = `Added batch ${batch.id} with ${formatCount(batch.total)} tasks.`;
            return errors.length === 0
                ? added : `${added} Refused: ${formatCount(errors.length)}, first: ${errors[0].message}`;
        }
        const tasks = urls.map((url, index) => ({ url, ...options, client_key: `${this.#key}/${index}` }));
        const { ids } = await call("task.add", { tasks });
        return ids.length === 1 ? `Added task ${ids[0]}.` : `Added ${formatCount(ids.length)} tasks.`;
    }

    #acceptPaste() {
        document.addEventListener("paste", (event) => {
            if (takesText(event.target) || this.#isBlocked) return;
            const text = event.clipboardData.getData("text");
            const urls = urlsOf(text).filter((line) => URL_PATTERN.test(line));
            if (urls.length === 0) return;
            event.preventDefault();
            this.#take(text, urls);
        });
    }

    #acceptDrop() {
        const types = ["text/uri-list", "text/plain", "Files"];
        const isAcceptable = ({ dataTransfer }) =>
            !this.#isBlocked && types.some((type) => dataTransfer.types.includes(type));
        document.addEventListener("dragover", (event) => {
            if (!isAcceptable(event)) return;
            event.preventDefault();
            document.body.classList.add("drop-target");
        });
        document.addEventListener("dragleave", (event) => {
            if (!event.relatedTarget) document.body.classList.remove("drop-target");
        });
        document.addEventListener("drop", async (event) => {
            document.body.classList.remove("drop-target");
            if (!isAcceptable(event)) return;
            event.preventDefault();
            const { dataTransfer } = event;
            const files = [...dataTransfer.files].map((file) => file.text());
            const text = dataTransfer.getData("text/uri-list") || dataTransfer.getData("text/plain");
            const whole = [text, ...await Promise.all(files)].filter(Boolean).join("\n");
            this.#take(whole, urlsOf(whole).filter((line) => URL_PATTERN.test(line)));
        });
    }

    /** Takes all URLs of a text, or none and says why. */
    #take(text, urls) {
        const problem = problemOf(text);
        if (problem) this.open([], problem);
        else if (urls.length > 0) this.open(urls);
    }

    /** While the page has no session, or another dialog is open. */
    get #isBlocked() {
        const other = document.querySelector("dialog[open]");
        return byID("queue").hidden || (other !== null && other !== this.dialog);
    }
}

/** 128 random bits. `crypto.randomUUID` is missing on pages over plain HTTP. */
const randomKey = () =>
    Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** A URL without the quotes or `<…>` around it (RFC 3986, appendix C). */
const bare = (line) => line.replace(/^(["'])(.+)\1$/, "$2").trim().replace(/^<(?:url:)?(.+)>$/i, "$1").trim();

/**
 * The lines of a list of URLs; `#` begins a comment (RFC 2483), behind white space too, and `;` in a line of its own.
 */
const linesOf = (text) =>
    text.split(/\r?\n/).map((line) => bare(` ${line}`.replace(/\s#.*$|^\s*;.*$/, "").trim()));

const urlsOf = (text) => linesOf(text).filter(Boolean);

/** The first line that says more than a URL: checksums, mirrors and options would be lost. Null without one. */
function problemOf(text) {
    const lines = linesOf(text);
    const index = lines.findIndex((line) =>
        !URL_PATTERN.test(line) && (OPTION_PATTERN.test(line) || line.includes("://")));
    if (index < 0) return null;
    const line = lines[index].length > 60 ? `${lines[index].slice(0, 60)}…` : lines[index];
    const kind = OPTION_PATTERN.test(line) ? "is an option" : "is not a single http or https URL";
    return new Error(`Line ${formatCount(index + 1)} ${kind}: ${line}. This page accepts URLs only and would lose it; `
        + "nothing was added. Add the list with “xferctl add -i FILE”, which reads checksums, mirrors and options.");
}

/** The fields of a task that the form says; empty ones have the daemon's default. */
function optionsOf(fields) {
    const options = {};
    for (const name of ["dir", "output", "checksum", "profile", "group", "label"]) {
        const text = fields[name].value.trim();
        if (text && !fields[name].disabled) options[name] = text;
    }
    if (fields.priority.value !== "normal") options.priority = fields.priority.value;
    if (fields.not_before.value) options.not_before = new Date(fields.not_before.value).toISOString();
    const times = fields.window.value.split(",").map((each) => each.trim()).filter(Boolean);
    if (times.length > 0) options.window = { times };
    if (fields.paused.checked) options.paused = true;
    return options;
}
