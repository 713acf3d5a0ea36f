import { byID, element, setText } from "./dom.js";
import { RPCError } from "./rpc.js";

const SHOWN_FOR = 12_000;

/** Says what a command did. Screen readers announce it when they are idle. */
export const inform = (text) => show(byID("told"), text);

/** Says what went wrong. Screen readers announce it at once. */
export const warn = (error) => show(byID("warned"), errorText(error));

/** An error in one sentence; of a refused right, what is missing. */
export function errorText(error) {
    if (!(error instanceof RPCError)) return error.message;
    return error.isForbidden ? `Not allowed with this token: ${error.message}` : error.message;
}

/** Writes an error into a dialog's own place for errors; without one it clears it. */
export function showError(node, error) {
    setText(node, error ? errorText(error) : "");
    node.hidden = !error;
}

function show(region, text) {
    const notice = element("p", { className: "notice", textContent: text });
    const close = element("button", {
        type: "button", textContent: "✕", className: "quiet", "aria-label": "Close this message",
        on: { click: () => notice.remove() },
    });
    notice.append(" ", close);
    region.replaceChildren(notice);
    setTimeout(() => notice.remove(), SHOWN_FOR);
}
