import { byID, element, setText } from "./dom.js";
import { formatMoment } from "./format.js";
import { inform, showError } from "./notices.js";
import { call } from "./rpc.js";

/** Trust policies: shows what a server's certificates are, pins them, and tests what a task would meet. */
export class TrustDialog {
    #server = null;

    constructor() {
        this.dialog = byID("trust-dialog");
        this.#onSubmit("trust-form", (form, button) =>
            (button.value === "test" ? this.#test(form) : this.#show(form)));
        this.#onSubmit("pin-form", (form) => this.#pin(form));
    }

    async open() {
        this.#clear();
        this.dialog.showModal();
        await this.#guard(() => this.#readPolicies());
    }

    #clear() {
        this.#server = null;
        showError(byID("trust-error"));
        byID("server").hidden = true;
        byID("pin-form").hidden = true;
    }

    async #readPolicies() {
        const { policies } = await call("policy.list");
        byID("policies").replaceChildren(...policies.map(({ name, hosts, mode, origin }) => element("tr", {},
            element("th", { scope: "row", textContent: name }),
            element("td", { textContent: hosts.join(" ") || "all other hosts" }),
            element("td", { textContent: mode === "none" ? "ordinary check" : `pins ${words(mode)}` }),
            element("td", {}, origin === "rpc" ? this.#removeButton(name) : `from ${words(origin)}`))));
    }

    #removeButton(name) {
        return element("button", {
            type: "button", textContent: "Remove", "aria-label": `Remove policy ${name}`,
            on: { click: () => this.#guard(async () => {
                await call("policy.remove", { name });
                await this.#readPolicies();
                inform(`Removed the policy ${name}.`);
            }) },
        });
    }

    /** Asks the server for its certificates, to be compared with what its operator says. */
    async #show(form) {
        const { hostname, port } = addressOf(form.elements.server.value);
        const host = hostname.replace(/^\[|\]$/g, "");
        const report = await call("policy.pin", { host, ...(port && { port: Number(port) }) });
        this.#server = port ? `${hostname}:${port}` : hostname;
        this.#render(report, true);
        byID("pin-form").hidden = report.chain.length === 0;
        const name = hostname.toLowerCase().replace(/[^a-z0-9._-]/g, "-").slice(0, 64);
        byID("pin-form").elements.name.value = name;
    }

    async #test(form) {
        this.#render(await call("policy.test", { url: addressOf(form.elements.server.value).href }), false);
        byID("pin-form").hidden = true;
    }

    #render(report, hasChoice) {
        byID("server").hidden = false;
        const { host, port, verdict, error, stages, policies, chain } = report;
        setText(byID("verdict"), [`${host}, port ${port}`, verdict, error].filter(Boolean).join(": "));
        byID("stages").replaceChildren(
            ...stages.map(({ stage, passed, detail }) =>
                verdictItem(passed, `${passed ? "ok" : "wrong"} · ${stage}: ${detail}`)),
            ...policies.map(({ name, accepted, problem }) =>
                verdictItem(accepted, `policy ${name} ${accepted ? "accepts" : `refuses: ${problem}`}`)));
        byID("chain").replaceChildren(...chain.map((each, index) => certificateItem(each, index, hasChoice)));
    }

    async #pin(form) {
        const pins = [...byID("chain").querySelectorAll("input:checked")].map(({ value }) => value);
        if (pins.length === 0) throw new Error("Choose at least one key to pin.");
        const name = form.elements.name.value.trim();
        await call("policy.set", { policy: { name, mode: "public_key", hosts: [this.#server], pins } });
        await this.#readPolicies();
        byID("pin-form").hidden = true;
        inform(`Pinned ${this.#server} with the policy ${name}.`);
    }

    #onSubmit(id, action) {
        byID(id).addEventListener("submit", (event) => {
            event.preventDefault();
            this.#guard(() => action(event.target, event.submitter));
        });
    }

    async #guard(action) {
        showError(byID("trust-error"));
        try {
            await action();
        } catch (error) {
            showError(byID("trust-error"), error);
        }
    }
}

/** The URL of `example.org`, `example.org:8443` or `https://example.org/`. */
function addressOf(text) {
    const trimmed = text.trim();
    const url = URL.parse(/^https?:/i.test(trimmed) ? trimmed : `https://${trimmed}`);
    if (url?.protocol !== "https:") {
        throw new Error(`"${trimmed}" is no server. Write a host such as example.org:8443, or an https URL.`);
    }
    return url;
}

/** A word of the daemon with spaces. */
const words = (word) => word.replaceAll("_", " ");

const verdictItem = (isGood, text) => element("li", { className: isGood ? "passed" : "not-passed", textContent: text });

function certificateItem(certificate, index, hasChoice) {
    const { subject, issuer, names, not_before: from, not_after: to, pin, pinned_by: policies } = certificate;
    const box = hasChoice ? element("input", { type: "checkbox", value: pin, checked: index === 0 }) : null;
    const title = element("strong", { textContent: index === 0 ? `leaf: ${subject}` : subject });
    return element("li", {},
        box ? element("label", {}, box, " ", title) : title,
        element("p", { textContent: `signed by ${issuer}` }),
        names.length > 0 ? element("p", { textContent: `for ${names.join(", ")}` }) : null,
        element("p", { textContent: `valid from ${formatMoment(from)} until ${formatMoment(to)}` }),
        element("code", { textContent: pin }),
        policies.length > 0 ? element("p", { textContent: `pinned by ${policies.join(", ")}` }) : null);
}
