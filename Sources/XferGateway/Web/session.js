/**
 * Who the page is to the daemon.
 *
 * Over TLS a token is exchanged for a cookie that scripts cannot read. On plain loopback there is no cookie, because
 * cookies ignore ports: another user's server on this machine would receive it. The token is kept in memory only.
 */
const hasCookies = location.protocol === "https:";

let token = null;

/** What every request of the page has in common. */
export function credentials() {
    return {
        credentials: hasCookies ? "same-origin" : "omit",
        headers: token ? { Authorization: `Bearer ${token}` } : {},
        cache: "no-store",
        redirect: "error",
    };
}

/** Whether a request may succeed: over TLS only the daemon knows whether there is a session. */
export const mayHaveSession = () => hasCookies || token !== null;

/** Uses a token. Over TLS a refused one throws an Error for people. */
export async function logIn(text) {
    token = text.trim();
    if (!/^[\x21-\x7e]+$/.test(token)) {
        token = null;
        throw new Error("A token has no spaces, such as xfer_0123…: paste all of what `xferctl token add` printed.");
    }
    if (!hasCookies) return;
    const request = { method: "POST", ...credentials() };
    token = null;
    const answer = await fetch("/session", request);
    if (!answer.ok) throw new Error((await answer.text()).trim() || `The daemon answered ${answer.status}.`);
}

/** Forgets the token, and ends the session that it was exchanged for. */
export async function logOut() {
    token = null;
    if (hasCookies) await fetch("/session", { method: "DELETE", ...credentials() }).catch(() => {});
}

/** The token of `#token=…`, which is removed from the address and the history at once. */
export function tokenOfAddress() {
    const found = new URLSearchParams(location.hash.slice(1)).get("token");
    if (found !== null) history.replaceState(null, "", location.pathname);
    return found;
}
