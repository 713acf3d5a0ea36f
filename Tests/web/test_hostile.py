"""Text of strangers, and pages of other origins."""
from __future__ import annotations

import json
from contextlib import contextmanager
from typing import Callable, Iterator
from urllib.parse import quote

import xfer
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from daemon import Daemon
from page import Page
from relay import Relay
from site_server import Site

SCRIPT = "<img src=x onerror=\"document.title='ran'\"><script>document.title='ran'</script>"


def assert_nothing_ran(page: Page) -> None:
    assert page.browser.title == "xfer"
    assert page.browser.find_elements(By.CSS_SELECTOR, "body img, body script") == []


def test_script_in_a_label_a_group_and_a_url_is_text(page: Page, site: Site, client: xfer.Client) -> None:
    task = client.add(f"{site.url}/{quote(SCRIPT)}", label=SCRIPT, group=SCRIPT[:128]).id
    page.wait_for_state(task, "completed")
    page.until(lambda: SCRIPT in page.row(task).text, "the label in the row")
    page.select(task)
    page.press("o")
    page.wait_for_text("details-name", SCRIPT)
    page.wait_for_text("time-line", "done: ")
    page.press("g")
    page.wait_for_text("groups", "<img src=x")
    assert_nothing_ran(page)


def test_script_in_a_file_name_is_text(page: Page, site: Site, client: xfer.Client, daemon: Daemon) -> None:
    name = SCRIPT.replace("/", "")
    task = client.add(f"{site.url}/a", output=name).id
    page.wait_for_state(task, "completed")
    page.until(lambda: name in page.row(task).text, "the file's name in the row")
    page.select(task)
    page.press("o")
    page.wait_for_text("details-facts", str(daemon.downloads / name))
    assert_nothing_ran(page)


def test_script_in_an_error_is_text(page: Page, site: Site, client: xfer.Client) -> None:
    shown = "text/html<img src=x onerror=alert(1)>"
    task = client.add(f"{site.url}/a?type={quote(shown)}", accept_types=["image/png"]).id
    page.wait_for_state(task, "failed")
    page.until(lambda: "<img" in page.row(task).text, "the server's words in the row")
    page.select(task)
    page.press("o")
    page.wait_for_text("details-error", "<img")
    assert_nothing_ran(page)


def test_script_in_a_refused_address_is_text(page: Page) -> None:
    page.press("p")
    page.element("trust-form").find_element(By.NAME, "server").send_keys(SCRIPT)
    page.click("Show certificates")
    page.wait_for_text("trust-error", SCRIPT)
    assert_nothing_ran(page)


# Each attempt resolves to what a stranger's page could read, or to null.
ATTEMPTS = """
const target = arguments[0], token = arguments[1], done = arguments[2];
const params = { url: "http://127.0.0.1:1/stolen" };
const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "task.add", params });
const readable = (answer) => (answer.type === "opaque" ? null : answer.text());
const never = new Promise((resolve) => setTimeout(resolve, 4000, null));
const loaded = (element) => new Promise((resolve) => {
    element.onload = () => resolve(element);
    element.onerror = () => resolve(null);
    document.body.append(element);
});
const post = (options) => fetch(target + "rpc", { method: "POST", body: message, ...options }).then(readable);
const attempts = {
    "simple request": () => post({ mode: "cors" }),
    "no-cors": () => post({ mode: "no-cors" }),
    "with cookies": () => post({ mode: "cors", credentials: "include" }),
    "with a preflight": () => post({ headers: { Authorization: `Bearer ${token}` } }),
    // The stream does not end, so its first bytes count.
    "events": () => fetch(target + "events", { headers: { Authorization: `Bearer ${token}` } })
        .then((answer) => answer.body.getReader().read()).then(({ value }) => new TextDecoder().decode(value)),
    "event source": () => new Promise((resolve) => {
        const source = new EventSource(target + "events");
        source.onmessage = ({ data }) => resolve(data);
        source.onerror = () => resolve(null);
    }),
    "WebSocket": () => new Promise((resolve) => {
        const socket = new WebSocket(target.replace("http", "ws") + "ws");
        socket.onopen = () => socket.send(message);
        socket.onmessage = ({ data }) => resolve(data);
        socket.onerror = () => resolve(null);
    }),
    "form": async () => {
        const form = document.createElement("form");
        Object.assign(form, { method: "post", action: target + "rpc", enctype: "text/plain", target: "sink" });
        const field = document.createElement("input");
        Object.assign(field, { name: message.slice(0, -1) + ',"x":"', value: '"}' });
        form.append(field);
        document.body.append(form);
        form.submit();
        return null;
    },
    "script tag": async () => {
        const script = await loaded(Object.assign(document.createElement("script"), { src: target + "rpc" }));
        return script && "loaded";
    },
    "image": async () => (await loaded(Object.assign(new Image(), { src: target + "rpc" }))) && "loaded",
    "frame": async () => {
        const frame = await loaded(Object.assign(document.createElement("iframe"), { src: target }));
        try { return frame.contentDocument?.body?.textContent || null; } catch { return null; }
    },
    "null origin": () => new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.sandbox = "allow-scripts";
        const request = { method: "POST", body: message, headers: { Authorization: `Bearer ${token}` } };
        frame.srcdoc = `<script>fetch(${JSON.stringify(target + "rpc")}, ${JSON.stringify(request)})
            .then((answer) => answer.text()).then((text) => parent.postMessage(text, "*"))</script>`;
        addEventListener("message", ({ data }) => resolve(data));
        document.body.prepend(frame);
    }),
    "redirect": () => fetch(`/?target=${encodeURIComponent(target + "rpc")}`, { method: "POST", body: message })
        .then(readable),
    "credentials in the address": async () => {
        const form = document.createElement("form");
        const action = target.replace("://", `://x:${token}@`) + "rpc";
        Object.assign(form, { method: "post", action, enctype: "text/plain", target: "sink" });
        document.body.append(form);
        form.submit();
        return (await loaded(Object.assign(new Image(), { src: target.replace("://", `://x:${token}@`) }))) && "loaded";
    },
    "open redirect": async () => {
        for (const path of ["?url=", "?next=", "/", "session?to=", "files/1?to=", "web/"]) {
            const answer = await fetch(target + path + location.href, { mode: "no-cors", redirect: "manual" });
            if (answer.type === "opaqueredirect") return path;
        }
        return null;
    },
    "the page's script": async () => {
        const script = await loaded(Object.assign(document.createElement("script"), { src: target + "web/rpc.js" }));
        return script && "loaded";
    },
    "the page's text": () => fetch(target).then(readable),
};
Promise.all(Object.entries(attempts).map(async ([name, attempt]) => {
    const found = await Promise.race([attempt().catch(() => null), never]);
    return [name, found ?? null];
})).then((found) => done(Object.fromEntries(found)));
"""


@contextmanager
def stranger(page: Page, site: Site) -> Iterator[WebDriver]:
    """The browser with a page of another origin in another tab."""
    site.pages["/stranger"] = "<!DOCTYPE html><title>stranger</title><body><iframe name=sink></iframe>"
    browser = page.browser
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    try:
        browser.get(f"{site.url}/stranger")
        yield browser
    finally:
        page.errors()
        browser.close()
        browser.switch_to.window(first)


def test_a_page_of_another_origin_reads_and_changes_nothing(
        page: Page, site: Site, daemon: Daemon, client: xfer.Client) -> None:
    token = daemon.token("own")
    with stranger(page, site) as browser:
        found = browser.execute_async_script(ATTEMPTS, page.url, token)
        browser.switch_to.frame(browser.find_elements(By.TAG_NAME, "iframe")[-1])
        framed = browser.find_elements(By.ID, "login")
        browser.switch_to.default_content()
    assert {name for name, what in found.items() if what is not None} == set(), json.dumps(found)
    assert framed == []
    assert client.task.list().tasks == []
    assert "live" in page.text("connection")


def test_a_name_that_was_pointed_at_this_machine_gets_no_answer(
        site: Site, daemon: Daemon, launch: Callable[..., WebDriver]) -> None:
    """DNS rebinding: to the browser the stranger's page and the daemon have the same origin."""
    site.pages["/stranger"] = "<!DOCTYPE html><title>stranger</title>"
    relay = Relay(site.port)
    browser = launch()
    try:
        browser.get(f"http://rebound.test:{relay.port}/stranger")
        assert browser.title == "stranger"
        relay.point_at(daemon.port)
        found = browser.execute_async_script("""
            const [token, done] = arguments;
            const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "task.list" });
            fetch("/rpc", { method: "POST", headers: { Authorization: `Bearer ${token}` }, body })
                .then((answer) => done(answer.status), (error) => done(String(error)));
            """, daemon.token("operate"))
    finally:
        browser.quit()
        relay.close()
    assert found == 421


def test_a_page_of_an_origin_that_is_listed_may_call_with_a_token(
        page: Page, site: Site, daemon: Daemon, client: xfer.Client) -> None:
    """Shows that the attempts of the test before would find what there is."""
    daemon.allow_origin(site.url)
    token = daemon.token("own")
    with stranger(page, site) as browser:
        found = browser.execute_async_script(ATTEMPTS, page.url, token)
    assert '"task"' in found["with a preflight"]
    assert found["events"] is not None
    assert "a token is required" in found["redirect"]
    assert [task.url for task in client.task.list().tasks] == ["http://127.0.0.1:1/stolen"]
