"""screenshots.py DIRECTORY [NAME…]: pictures of the main states of the page, at three widths, in light and dark."""
from __future__ import annotations

import sys
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

import xfer
from selenium.webdriver.common.keys import Keys

from daemon import Daemon
from page import Page, chromium
from site_server import Site

SIZES = [(360, 740), (1280, 800), (3840, 2160)]
TIMETABLE = 'bandwidth: { timetable: ["08:00 512K", "12:00 2M/64K", "19:00 off"] }\n'
MEBIBYTE = 1 << 20
# Name, size and rate of what is fetched.
FILES = [
    ("README.txt", 40_000, 10 * MEBIBYTE),
    ("firmware-2026.11.img", 6 * MEBIBYTE, 6 * MEBIBYTE),
    ("debian-13.2.0-amd64-netinst.iso", 783 * MEBIBYTE, 20 * MEBIBYTE),
    ("linux-6.18.tar.xz", 148 * MEBIBYTE, 3 * MEBIBYTE),
    ("planet-europe.osm.pbf", 31_000 * MEBIBYTE, 13 * MEBIBYTE),
    ("holiday-2026.tar", 2_300 * MEBIBYTE, 4 * MEBIBYTE),
] + [(f"photos-2026-{month:02}.zip", 700 * MEBIBYTE, 3 * MEBIBYTE) for month in range(1, 9)]
# Each state and the keys that lead to it.
STATES = {
    "web": ["2", Keys.HOME, "o"],
    "all": ["1"],
    "queue": ["3", Keys.HOME],
    "failed": ["6", Keys.HOME, "o"],
    "add": ["a"], "groups": ["g"], "limits": ["L"], "trust": ["p"], "keys": ["?"],
}


def fill(client: xfer.Client, site: Site) -> None:
    """Tasks in every state."""
    # No limit of a rate: the timetable would have the pictures depend on the time of day.
    client.queue.set_limits(max_active=4, max_active_per_host=6, max_recv_rate=0)
    client.add(f"{site.url}/old-release.tar.gz?status=404")
    client.add(f"{site.url}/nightly.img?status=503", max_retries=9)
    for name, size, rate in FILES:
        site.files[f"/{name}"] = (size, rate)
        client.add(f"{site.url}/{name}")
    client.batch.add(tasks=[f"{site.url}/scan-{number:03}.tif" for number in range(40)])
    client.add(f"{site.url}/backup.tar", not_before=datetime.now(timezone.utc) + timedelta(hours=9))
    client.add(f"{site.url}/manual.pdf", paused=True)


def photograph(page: Page, name: str, keys: list[str], directory: Path) -> None:
    """One state in all sizes."""
    for width, height in SIZES:
        for scheme in ("light", "dark"):
            page.browser.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
            page.browser.execute_cdp_cmd(
                "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            for key in keys:
                page.browser.find_element("tag name", "body").send_keys("/")
                page.press(key)
            shown = len(page.rates())
            page.until(lambda: len(page.rates()) > shown + 1, "a drawing of the new size")
            page.browser.save_screenshot(str(directory / f"{name}-{width}-{scheme}.png"))
            page.browser.execute_script("document.querySelector('dialog[open]')?.close()")
            page.press(Keys.ESCAPE)


def main(directory: Path, names: list[str]) -> None:
    """Takes the pictures of the named states, or all."""
    directory.mkdir(parents=True, exist_ok=True)
    site, browser = Site(), chromium()
    with tempfile.TemporaryDirectory() as home:
        daemon = Daemon(Path(home), TIMETABLE)
        try:
            daemon.start()
            with daemon.client() as client:
                fill(client, site)
            page = Page(browser, daemon.url)
            page.open(daemon.token("operate"))
            page.until(lambda: len(page.rates()) > 20, "some of the plot")
            for name, keys in STATES.items():
                if not names or name in names:
                    photograph(page, name, keys, directory)
        finally:
            browser.quit()
            daemon.kill()
            site.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
