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
        byID("policies").replaceChildren(...policies.map((policy) => element("tr", {},
            element("th", { scope: "row", textContent: policy.name }),
            element("td", { textContent: policy.hosts.join(" ") || "all other hosts" }),
            element("td", { textContent: policy.mode === "none" ? "ordinary check" : `pins ${policy.mode.replace("_", " ")}` }),
            element("td", {}, policy.origin === "rpc" ? this.#removeButton(policy.name) : `from ${policy.origin.replace("_", " ")}`))));
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
        const report = await call("policy.pin", { host: hostname.replace(/^\[|\]$/g, ""), ...(port && { port: Number(port) }) });
        this.#server = port ? `${hostname}:${port}` : hostname;
        this.#render(report, true);
        byID("pin-form").hidden = report.chain.length === 0;
        byID("pin-form").elements.name.value = hostname.toLowerCase().replace(/[^a-z0-9._-]/g, "-").slice(0, 64);
    }

    async #test(form) {
        this.#render(await call("policy.test", { url: addressOf(form.elements.server.value).href }), false);
        byID("pin-form").hidden = true;
    }

    #render(report, hasChoice) {
        byID("server").hidden = false;
        setText(byID("verdict"), `${report.host}, port ${report.port}: ${report.verdict}${report.error ? `: ${report.error}` : ""}`);
        byID("stages").replaceChildren(
            ...report.stages.map(({ stage, passed, detail }) =>
                element("li", { className: passed ? "passed" : "not-passed", textContent: `${passed ? "ok" : "wrong"} · ${stage}: ${detail}` })),
            ...report.policies.map(({ name, accepted, problem }) =>
                element("li", {
                    className: accepted ? "passed" : "not-passed",
                    textContent: `policy ${name} ${accepted ? "accepts" : `refuses: ${problem}`}`,
                })));
        byID("chain").replaceChildren(...report.chain.map((certificate, index) => certificateItem(certificate, index, hasChoice)));
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
    if (url?.protocol !== "https:") throw new Error(`"${trimmed}" is no server. Write a host such as example.org:8443, or an https URL.`);
    return url;
}

function certificateItem({ subject, issuer, names, not_before: from, not_after: to, pin, pinned_by: policies }, index, hasChoice) {
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
