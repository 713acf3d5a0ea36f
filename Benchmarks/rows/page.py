"""What a browser waits for until the web page is there."""

import pathlib
import shutil
import sys
import urllib.request

from harness.daemon import Daemon
from harness.measure import Failed, Outcome, alternate
from harness.servers import Nginx, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]


def page(bench):
    """The page of xferd, and the same files from nginx, in one browser that keeps nothing of them."""
    outcome = Outcome("the web page in headless Chromium on loopback, until something is painted")
    memory = bench.new_directory("memory")
    port = free_port()
    browser = launch_browser()
    try:
        with Nginx(memory, memory / "served") as server, \
                Daemon(bench, f"listen: [ {{ address: '127.0.0.1:{port}' }} ]") as daemon:
            origin = f"http://127.0.0.1:{port}/"
            with daemon.client() as client:
                token = client.call("token.add", name="page", scope="read")["secret"]
            browser.execute_cdp_cmd("Network.enable", {})
            browser.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
            browser.get(origin)
            copy_page(browser, origin, server.served)
            addresses = {"xfer": origin, "nginx": server.url("index.html")}

            def load(tool, number):
                # A new document each time, and not the one that is there.
                browser.get("about:blank")
                browser.get(addresses[tool] + ("" if tool == "nginx" else f"#token={token}"))
                for name, value in figures(browser, tool).items():
                    if number > 0:
                        outcome.add(name, tool, "ms", value)

            alternate(list(addresses), 4 * bench.rounds, load)
    finally:
        browser.quit()
        shutil.rmtree(memory)
    outcome.ask("first paint", at_most=300)
    outcome.ask_ratio("first paint", "nginx", at_most=1.5)
    outcome.ask("events are live", at_most=1000)
    outcome.notes.append("nginx has the same files and no daemon behind them, so its page stays at the form.")
    return outcome


def launch_browser():
    """The browser as the tests of the page start it."""
    packages = next(iter(ROOT.glob(".build/python/lib/python3*/site-packages")), None)
    if packages is None or not pathlib.Path("/usr/bin/chromium").exists():
        raise Failed("Chromium or Selenium is missing: scripts/packages bench")
    sys.path += [str(packages), str(ROOT / "Tests/web")]
    from page import chromium
    return chromium()


def copy_page(browser, origin, directory):
    """Puts every file that the page has loaded where nginx serves it."""
    names = browser.execute_script("return performance.getEntriesByType('resource').map(({ name }) => name)")
    for name in {origin, *names}:
        path = directory / (name.removeprefix(origin) or "index.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(name) as answer:
            path.write_bytes(answer.read())


def figures(browser, tool):
    """Milliseconds since the navigation began."""
    from selenium.webdriver.support.wait import WebDriverWait
    wait = WebDriverWait(browser, 60, 0.005)
    painted = wait.until(lambda _: browser.execute_script(
        "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"))
    found = {"first paint": painted}
    if tool == "xfer":
        found["events are live"] = wait.until(lambda _: browser.execute_script(
            "return document.getElementById('connection').textContent.includes('live') && performance.now()"))
    return found
