"""What the page shows of tasks, and does with them."""
from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
import xfer
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from daemon import Daemon
from page import Page
from site_server import SIZE, Site

TIMETABLE = 'bandwidth: { timetable: ["08:00 512K", "12:00 2M/64K", "19:00 off", "sat,sun 09:00 1M"] }\n'

CONFIGURED = "bandwidth: { recv: 500Ki }\n"


def state_of(client: xfer.Client, task: int) -> str:
    return str(client.task.get(task).task.state)


def limits_of(page: Page) -> list[str]:
    """The lines of the dialog about the queue's limits."""
    return [line.text for line in page.element("limits-now").find_elements(By.TAG_NAME, "li")]


def test_an_added_url_is_downloaded(page: Page, site: Site, daemon: Daemon) -> None:
    page.click("Add", "header")
    page.browser.switch_to.active_element.send_keys(f"{site.url}/added.bin")
    page.click("Add", "#add-dialog")
    page.wait_for_state(1, "completed")
    assert page.dialog_is_closed()
    assert (daemon.downloads / "added.bin").stat().st_size == SIZE


def test_every_field_of_the_form_arrives(page: Page, site: Site, daemon: Daemon, client: xfer.Client) -> None:
    page.click("Add", "header")
    dialog = page.element("add-dialog")
    texts = {"urls": f"{site.url}/a", "dir": str(daemon.downloads), "output": "named", "label": "for people",
             "checksum": "sha-256=" + "0" * 64, "group": "isos", "priority": "high",
             "window": "22:00-06:00, 12:00-13:00"}
    for name, text in texts.items():
        dialog.find_element(By.NAME, name).send_keys(text)
    dialog.find_element(By.NAME, "paused").click()
    page.browser.execute_script("document.querySelector('[name=not_before]').value = '2199-01-02T03:04'")
    page.click("Add", "#add-dialog")
    page.wait_for_text("told", "Added task 1")
    task = client.task.get(1).task
    assert (task.url, task.dir, task.output, task.label, task.group, task.priority, task.state) == (
        f"{site.url}/a", texts["dir"], "named", "for people", "isos", "high", "paused")
    assert task.checksum == texts["checksum"]
    assert task.window is not None and task.window["times"] == ["22:00-06:00", "12:00-13:00"]
    assert task.not_before is not None and task.not_before.year >= 2199 - 1


def test_a_refused_add_says_why_and_keeps_the_form(page: Page, site: Site) -> None:
    page.click("Add", "header")
    page.browser.switch_to.active_element.send_keys(f"{site.url}/a")
    page.element("add-dialog").find_element(By.NAME, "dir").send_keys("/etc")
    page.click("Add", "#add-dialog")
    page.wait_for_text("add-error", "outside the allowed directories")
    assert not page.dialog_is_closed()


def test_pasted_urls_fill_the_form(page: Page, site: Site, client: xfer.Client) -> None:
    page.browser.execute_script("""
        const data = new DataTransfer();
        data.setData("text", arguments[0]);
        document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
        """, f"{site.url}/one\nno url\n{site.url}/two\n")
    page.wait_for_text("add-count", "2 tasks")
    page.click("Add", "#add-dialog")
    page.wait_for_text("told", "Added 2 tasks")
    assert [task.url for task in client.task.list(order="asc").tasks] == [f"{site.url}/one", f"{site.url}/two"]


def test_dropped_urls_fill_the_form(page: Page, site: Site) -> None:
    page.browser.execute_script("""
        const dataTransfer = new DataTransfer();
        dataTransfer.setData("text/uri-list", arguments[0]);
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        """, f"# a comment\r\n; another\r\n<{site.url}/dropped>\r\n")
    page.wait_for_text("add-count", "1 task")


@pytest.mark.parametrize("way", ["drop", "file", "paste"])
@pytest.mark.parametrize("line", ["  checksum=sha-256=00", "\tout=a name", "{url}/a\t{url}/mirror", "ftp://example/x"])
def test_a_list_whose_options_would_be_lost_is_refused(page: Page, site: Site, way: str, line: str) -> None:
    text = f"{site.url}/one\n{line.format(url=site.url)}\n{site.url}/two\n"
    page.browser.execute_script("""
        const [way, text] = arguments;
        const data = new DataTransfer();
        if (way === "file") data.items.add(new File([text], "list.txt", { type: "text/plain" }));
        else data.setData("text/plain", text);
        document.body.dispatchEvent(way === "paste"
            ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true })
            : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        """, way, text)
    page.wait_for_text("add-error", "Line 2 is")
    page.wait_for_text("add-error", "xferctl add -i FILE")
    assert page.element("add-dialog").find_element(By.NAME, "urls").get_attribute("value") == ""


def test_a_list_written_into_the_form_is_refused_too(page: Page, site: Site, client: xfer.Client) -> None:
    page.click("Add", "header")
    page.browser.switch_to.active_element.send_keys(f"{site.url}/a\nchecksum=sha-256=00\n{site.url}/b")
    page.element("add-dialog").find_element(By.NAME, "batch").click()
    page.click("Add", "#add-dialog")
    page.wait_for_text("add-error", "Line 2 is an option: checksum=sha-256=00")
    assert client.task.list().tasks == []


def test_many_urls_are_added_as_a_batch_and_counted(page: Page, site: Site) -> None:
    page.click("Add", "header")
    page.browser.switch_to.active_element.send_keys(f"{site.url}/a\n{site.url}/b\n{site.url}/c?status=404")
    page.element("add-dialog").find_element(By.NAME, "batch").click()
    page.click("Add", "#add-dialog")
    page.wait_for_text("told", "Added batch 1 with 3 tasks")
    page.wait_for_state(3, "failed")
    page.click("Groups")
    page.wait_for_text("groups", "batch 1: 3 of 3 ended (100%), 1 failed")


def test_progress_and_the_rate_are_live(page: Page, site: Site, client: xfer.Client) -> None:
    task = client.add(site.unending(), output="big").id
    page.wait_for_state(task, "running")
    page.until(lambda: "KiB/s" in page.row(task).text, "a rate in the row")
    shown = page.row(task).text
    page.until(lambda: page.row(task).text != shown, "another progress")
    page.until(lambda: "KiB/s" in page.text("rate"), "the total rate")
    page.until(lambda: page.browser.find_element(By.CSS_SELECTOR, "svg.total .line").get_attribute("d"), "the plot")
    assert page.text("views").startswith("All 1Running 1")


def test_a_task_is_paused_and_resumed(page: Page, site: Site, client: xfer.Client) -> None:
    task = client.add(site.unending(), output="big").id
    page.wait_for_state(task, "running")
    page.select(task)
    page.click("Pause")
    page.wait_for_state(task, "paused")
    assert state_of(client, task) == "paused"
    page.click("Resume")
    page.until(lambda: page.state(task) == "running", "the task to run again")


def test_a_task_is_cancelled_after_a_question(page: Page, site: Site, client: xfer.Client) -> None:
    task = client.add(site.unending(), output="big").id
    page.select(task)
    page.click("Cancel…")
    page.click("Keep", "#cancel-dialog")
    assert state_of(client, task) in ("queued", "running")
    page.click("Cancel…")
    page.click("Cancel the transfer")
    page.wait_for_state(task, "cancelled")


def test_a_failed_task_says_why_and_what_to_do_and_is_retried(page: Page, site: Site, client: xfer.Client) -> None:
    task = client.add(f"{site.url}/missing?status=404").id
    page.wait_for_state(task, "failed")
    page.until(lambda: "404" in page.row(task).text, "the reason in the row")
    page.select(task)
    page.click("Details")
    page.wait_for_text("details-error", "404")
    page.wait_for_text("details-advice", "retry")
    site.is_mended = True
    page.click("Retry")
    page.wait_for_state(task, "completed")


def test_a_waiting_task_says_why_and_until_when(page: Page, site: Site, client: xfer.Client) -> None:
    moment = datetime.now(timezone.utc) + timedelta(days=3)
    task = client.add(f"{site.url}/later", not_before=moment).id
    page.wait_for_state(task, "waiting")
    page.until(lambda: f"waits for its time until {moment:%b} {moment.day}, {moment.year}" in page.row(task).text,
               "the time in the row")


def test_a_removed_task_leaves_the_list_and_its_file_stays(
        page: Page, site: Site, client: xfer.Client, daemon: Daemon) -> None:
    task = client.add(f"{site.url}/kept").id
    page.wait_for_state(task, "completed")
    page.select(task)
    page.click("Remove…")
    page.click("Remove", "#remove-dialog")
    page.until(lambda: not page.rows(task), "the row to vanish")
    assert (daemon.downloads / "kept").exists()


def test_a_task_is_removed_with_its_file(page: Page, site: Site, client: xfer.Client, daemon: Daemon) -> None:
    task = client.add(f"{site.url}/gone").id
    page.wait_for_state(task, "completed")
    page.select(task)
    page.click("Remove…")
    page.element("remove-files").click()
    page.click("Remove", "#remove-dialog")
    page.wait_for_text("told", "Files deleted: 1")
    assert not (daemon.downloads / "gone").exists()


def test_staged_tasks_are_published_together(
        page: Page, site: Site, client: xfer.Client, daemon: Daemon) -> None:
    ids = [client.add(f"{site.url}/{name}", finalize="manual").id for name in ("first", "second")]
    for task in ids:
        page.wait_for_state(task, "staged")
    assert not (daemon.downloads / "first").exists()
    page.row(ids[-1])
    page.press(Keys.CONTROL, "a")
    page.click("Publish")
    for task in ids:
        page.wait_for_state(task, "completed")
    assert [(daemon.downloads / name).stat().st_size for name in ("first", "second")] == [SIZE, SIZE]


def test_a_running_task_cannot_be_published(page: Page, site: Site, client: xfer.Client) -> None:
    task = client.add(site.unending(), output="big", finalize="manual").id
    page.wait_for_state(task, "running")
    page.select(task)
    page.until(lambda: "Pause" in page.text("toolbar"), "the commands of a running task")
    buttons = page.browser.find_elements(By.XPATH, "//button[text()='Publish']")
    assert not any(button.is_displayed() and button.is_enabled() for button in buttons)


def queue_of_three(page: Page, site: Site, client: xfer.Client) -> list[int]:
    """Three tasks that cannot start, in the view of the queue."""
    client.queue.pause()
    ids = [client.add(f"{site.url}/{name}").id for name in "abc"]
    page.press("3")
    page.until(lambda: page.order() == ids, "the queue")
    return ids


def test_the_queue_is_reordered_by_keys(page: Page, site: Site, client: xfer.Client) -> None:
    first, second, third = queue_of_three(page, site, client)
    page.select(third)
    page.press(Keys.ALT, Keys.ARROW_UP)
    page.until(lambda: page.order() == [first, third, second], "the last task to move up")
    page.press("t")
    page.until(lambda: page.order() == [third, first, second], "the task to be first")
    page.press("b")
    page.until(lambda: page.order() == [first, second, third], "the task to be last")


def test_the_queue_is_reordered_by_dragging(page: Page, site: Site, client: xfer.Client) -> None:
    first, second, third = queue_of_three(page, site, client)
    grip = page.row(third).find_element(By.CLASS_NAME, "grip")
    top = page.row(first)
    ActionChains(page.browser).click_and_hold(grip).move_to_element_with_offset(top, 0, -15).release().perform()
    page.until(lambda: page.order() == [third, first, second], "the dragged task to be first")
    assert [task.id for task in client.task.list(order="queue").tasks] == [third, first, second]


def test_details_show_what_is_known_and_what_happened(page: Page, site: Site, client: xfer.Client) -> None:
    task = client.add(f"{site.url}/known", label="a label").id
    page.wait_for_state(task, "completed")
    page.select(task)
    page.press("o")
    page.wait_for_text("details-facts", f"{site.url}/known")
    for text in ("added", "attempt 1 began", "the server answered 200", "done: "):
        page.wait_for_text("time-line", text)


def test_the_time_line_is_live(page: Page, site: Site, client: xfer.Client) -> None:
    task = client.add(site.unending(), output="big").id
    page.select(task)
    page.press("o")
    page.wait_for_text("time-line", "attempt 1 began")
    client.task.pause(ids=[task])
    page.wait_for_text("time-line", "paused at")


def test_all_tasks_of_a_view_are_commanded_together(page: Page, site: Site, client: xfer.Client) -> None:
    ids = [client.add(site.unending(name), output=name).id for name in "abc"]
    page.row(ids[-1])
    page.press(Keys.CONTROL, "a")
    page.wait_for_text("selected", "all selected")
    page.click("Pause")
    for task in ids:
        page.wait_for_state(task, "paused")
    assert {state_of(client, task) for task in ids} == {"paused"}


def test_limits_are_changed_and_shown(page: Page, client: xfer.Client) -> None:
    page.press("L")
    field = page.element("limits-dialog").find_element(By.NAME, "max_recv_rate")
    page.until(lambda: field.get_property("value") == "0", "the present limit")
    field.clear()
    field.send_keys("1,5M")
    page.click("Set limits")
    page.until(page.dialog_is_closed, "the dialog to close")
    assert client.queue.stats().limits.max_recv_rate == 1_500_000
    page.press("L")
    page.wait_for_text("limits-now", "Receiving: 1.4 MiB/s, set by a client (xferctl limit, the page, aria2)")
    page.wait_for_text("limits-now", "Sending: unlimited")
    page.click("As configured")
    page.until(page.dialog_is_closed, "the dialog to close")
    assert client.queue.stats().limits.max_recv_rate == 0


@pytest.mark.parametrize("daemon", [TIMETABLE], indirect=True, ids=["timetable"])
def test_the_timetable_is_shown(page: Page) -> None:
    page.press("L")
    page.wait_for_text("timetable", "from 08:00: 500 KiB/s")
    page.wait_for_text("timetable", "from 12:00: receive 1.9 MiB/s, send 62.5 KiB/s")
    page.wait_for_text("timetable", "from 19:00: unlimited")
    page.wait_for_text("timetable", "sat, sun from 09:00: 977 KiB/s")


@pytest.mark.parametrize("daemon", [TIMETABLE], indirect=True, ids=["timetable"])
def test_a_rate_of_the_timetable_says_so_until_a_limit_is_set(page: Page, client: xfer.Client) -> None:
    page.press("L")
    page.wait_for_text("limits-now", ", by the timetable until ")
    page.click("Close", "#limits-dialog")
    client.queue.set_limits(max_recv_rate=1_500_000, max_active=3)
    page.press("L")
    page.wait_for_text("limits-now", "At once: 3, set by a client (xferctl limit, the page, aria2)")
    page.wait_for_text("limits-now", "Receiving: 1.4 MiB/s, set by a client (xferctl limit, the page, aria2)")
    assert ", by the timetable until " in limits_of(page)[-1]


@pytest.mark.parametrize("daemon", [CONFIGURED], indirect=True, ids=["configured"])
def test_limits_of_the_configuration_say_so(page: Page) -> None:
    page.press("L")
    page.wait_for_text("limits-now", "Receiving: 500 KiB/s, set by the configuration")
    assert limits_of(page) == [
        "At once: automatic: 100 small, 6 large", "Per host: automatic: see Hosts", "Order: fifo",
        "Receiving: 500 KiB/s, set by the configuration", "Sending: unlimited"]


def test_a_hosts_own_limits_are_shown(page: Page, site: Site, client: xfer.Client) -> None:
    task = client.add(site.unending(), output="big").id
    page.wait_for_state(task, "running")
    host = client.queue.hosts().hosts[0].host
    client.queue.set_host(host=host, connections=2, requests_per_minute=600)
    page.press("L")
    page.wait_for_text("hosts", "at most 2 connections, at most 600 requests a minute")


def test_the_queue_is_held_back_and_released(page: Page, client: xfer.Client) -> None:
    page.press("L")
    page.click("Pause queue")
    page.wait_for_text("hold-state", "Paused: no task starts")
    assert client.queue.stats().paused
    page.click("Resume queue")
    page.wait_for_text("hold-state", "Not paused")
    assert not client.queue.stats().paused


def test_a_rate_that_is_none_is_refused_with_an_example(page: Page, client: xfer.Client) -> None:
    page.press("L")
    field = page.element("limits-dialog").find_element(By.NAME, "max_recv_rate")
    page.until(lambda: field.get_property("value") == "0", "the present limit")
    field.send_keys("x")
    page.click("Set limits")
    page.wait_for_text("limits-error", '"0x" is not a rate')


def test_one_task_is_limited(page: Page, site: Site, client: xfer.Client) -> None:
    task = client.add(site.unending(), output="big").id
    page.select(task)
    page.press("l")
    page.until(lambda: page.element("task-limit-dialog").is_displayed(), "the dialog")
    page.browser.switch_to.active_element.send_keys("100K", Keys.ENTER)
    page.wait_for_text("told", f"The limit of task {task} was applied")
    assert client.task.get(task).task.max_recv_rate == 100_000


def test_a_group_is_held_back_and_shown(page: Page, site: Site, client: xfer.Client) -> None:
    client.queue.pause()
    inside = client.add(f"{site.url}/a", group="isos").id
    outside = client.add(f"{site.url}/b").id
    page.row(outside)
    page.press("g")
    page.wait_for_text("groups", "queued 1")
    page.click("Pause", "#groups")
    page.wait_for_text("groups", "paused")
    assert client.group.get(name="isos").group.paused
    page.click("Show", "#groups")
    page.until(lambda: page.order() == [inside], "the tasks of the group alone")
    page.click("All groups")
    page.until(lambda: page.order() == [outside, inside], "all tasks")
