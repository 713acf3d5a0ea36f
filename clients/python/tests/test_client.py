"""The blocking client against a real daemon, in both dialects."""
from __future__ import annotations

import hashlib
import socket
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Iterator, List, Union

import pytest

import xfer
from daemon import Daemon
from relay import Relay
from site_server import CONTENT, Site
from xfer import _calls, rpc_errors
from xfer.records import NewTask, SelectionResultBegun, SelectionResultCounted, TaskAddMany, TaskRecord


def test_an_added_download_is_waited_for_and_published(server: str, daemon: Daemon, site: Site) -> None:
    with xfer.Client(server) as client:
        digest = hashlib.sha256(CONTENT).hexdigest()
        task = client.add(f"{site.url}/file", output="out.bin", checksum=f"sha-256={digest}")
        record = task.wait(timeout=60)
    assert record.state == "completed"
    assert record.final_path == str(daemon.downloads / "out.bin")
    assert Path(record.final_path).read_bytes() == CONTENT
    assert record.finished_at is not None and record.finished_at.tzinfo is not None


def test_a_failed_task_raises_its_reason(server: str, daemon: Daemon, site: Site) -> None:
    with xfer.Client(server) as client:
        task = client.add(f"{site.url}/missing")
        with pytest.raises(xfer.TaskFailedError) as caught:
            task.wait(timeout=60)
    assert caught.value.reason == "http_status"
    assert caught.value.task.error is not None and caught.value.task.error.http_status == 404


def test_a_cancelled_task_raises(server: str, site: Site) -> None:
    with xfer.Client(server) as client:
        task = client.add(f"{site.url}/held")
        assert task.cancel()
        assert not task.cancel()
        with pytest.raises(xfer.TaskCancelledError):
            task.wait(timeout=60)


def test_waiting_that_takes_too_long_raises_and_the_task_goes_on(server: str, site: Site) -> None:
    with xfer.Client(server) as client:
        task = client.add(f"{site.url}/held")
        with pytest.raises(xfer.WaitTimeoutError) as caught:
            task.wait(timeout=0.3)
        assert isinstance(caught.value, TimeoutError)
        site.release()
        assert task.wait(timeout=60).state == "completed"


def test_waiting_outlives_a_crash_of_the_daemon(server: str, daemon: Daemon, site: Site) -> None:
    with xfer.Client(server) as client:
        task = client.add(f"{site.url}/held")
        results: "list[str | None]" = []
        thread = threading.Thread(target=lambda: results.append(task.wait(timeout=60).final_path))
        thread.start()
        site.await_held()
        daemon.kill()
        site.release()
        daemon.start()
        thread.join(60)
    assert results == [str(daemon.downloads / "held")]


def test_adding_looks_for_a_daemon_that_went_away_between_two_calls(
    server: str, daemon: Daemon, searches: List[Exception],
) -> None:
    def urls() -> Iterator[str]:
        yield from (f"http://127.0.0.1:9/{number}" for number in range(10_000))
        yield "http://127.0.0.1:9/10000"
        # The first 10,000 are added now.
        daemon.kill()
        yield "http://127.0.0.1:9/10001"

    with xfer.Client(server) as client:
        added = client.add_all(urls(), kind="data", paused=True)
        assert len({task.id for task in added}) == 10_002
        assert client.queue.stats().counts.paused == 10_002
        daemon.kill()
        client.add("http://127.0.0.1:9/10002", paused=True)
        assert client.queue.stats().counts.paused == 10_003
    assert [type(error) for error in searches] == [xfer.NoDaemonError] * 2


def test_following_begins_although_the_daemon_went_away(
    server: str, daemon: Daemon, searches: List[Exception],
) -> None:
    with xfer.Client(server) as client:
        task = client.add("http://127.0.0.1:9/a", paused=True)
        daemon.kill()
        with client.follow(since=0, types="task.added", idle_timeout=60) as events:
            assert next(events).task_id == task.id
    assert len(searches) == 1


def test_wait_all_gives_records_although_the_daemon_goes_away_before_it_reads_them(
    server: str, daemon: Daemon, site: Site, searches: List[Exception], monkeypatch: pytest.MonkeyPatch,
) -> None:
    with xfer.Client(server) as client:
        added = client.add_all([f"{site.url}/file?1", f"{site.url}/missing"], kind="data")
        listed = client.tasks

        def kill_and_list(**arguments: Any) -> Iterator[TaskRecord]:
            if not searches:
                daemon.kill()
            return listed(**arguments)

        monkeypatch.setattr(client, "tasks", kill_and_list)
        assert [record.state for record in client.wait_all(added, timeout=60)] == ["completed", "failed"]
    assert len(searches) == 1


def test_wait_all_gives_records_of_tasks_that_left_the_history_meanwhile(
    server: str, site: Site, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_calls, "LONGEST_WAIT", 0.1)
    with xfer.Client(server) as client:
        ended = client.add(f"{site.url}/file?1", kind="data")
        held = client.add(f"{site.url}/held")
        listed = client.tasks

        def list_and_remove(**arguments: Any) -> Iterator[TaskRecord]:
            records = list(listed(**arguments))
            if ended.id in [record.id for record in records]:
                ended.remove()
                site.release()
            return iter(records)

        monkeypatch.setattr(client, "tasks", list_and_remove)
        assert [record.state for record in client.wait_all([ended, held], timeout=60)] == ["completed"] * 2


def test_waiting_detects_another_database(server: str, daemon: Daemon, site: Site) -> None:
    with xfer.Client(server) as client:
        task = client.add(f"{site.url}/held")
        daemon.kill()
        daemon.remove_database()
        daemon.start()
        client.add(f"{site.url}/held?other")
        for command in (lambda: task.wait(timeout=60), task.get, task.cancel, task.remove):
            with pytest.raises(xfer.StoreChangedError) as caught:
                command()
            assert caught.value.expected == task.store_id


def test_a_removed_task_raises_when_it_is_commanded(server: str, site: Site) -> None:
    with xfer.Client(server) as client:
        task = client.add(f"{site.url}/file")
        path = task.wait(timeout=60).final_path
        assert path is not None and task.remove(files=True)
        assert not Path(path).exists()
        with pytest.raises(xfer.TaskRemovedError):
            task.pause()
        with pytest.raises(rpc_errors.NotFoundError):
            task.get()


def test_the_response_of_a_data_task_is_read_whole(server: str, site: Site) -> None:
    with xfer.Client(server) as client:
        text = client.add(f"{site.url}/text", kind="data")
        text.wait(timeout=60)
        binary = client.add(f"{site.url}/file", kind="data")
        binary.wait(timeout=60)
        assert text.content() == '{"name": "Grüße"}'.encode()
        assert binary.content() == CONTENT


def test_an_error_has_code_reason_and_path(server: str, daemon: Daemon) -> None:
    with xfer.Client(server) as client:
        with pytest.raises(rpc_errors.InvalidParamsError) as caught:
            client.task.add(tasks=[{"url": "http://127.0.0.1/a"}, {"url": "http://127.0.0.1/b", "max_retries": -1}])
        assert (caught.value.code, caught.value.reason) == (-32602, "out_of_range")
        assert caught.value.path == "tasks[1].max_retries"
        assert caught.value.method == "task.add"
        with pytest.raises(xfer.RPCError, match="no.such"):
            client.call("no.such")
        assert client.task.list().tasks == []


def test_add_all_adds_urls_and_tasks_with_their_own_fields_in_order(server: str, site: Site) -> None:
    with xfer.Client(server) as client:
        tasks: List[Union[str, NewTask]] = [
            f"{site.url}/a", {"url": f"{site.url}/b", "group": "own", "client_key": "mine"}, f"{site.url}/c"]
        added = client.add_all(tasks, group="all", paused=True)
        records = [client.task.get(task.id).task for task in added]
        assert [record.url for record in records] == [f"{site.url}/{name}" for name in "abc"]
        assert [record.group for record in records] == ["all", "own", "all"]
        assert len({record.client_key for record in records}) == 3 and records[1].client_key == "mine"
        # A known key is the task that exists.
        again = client.add_all([{"url": f"{site.url}/b", "group": "own", "client_key": "mine", "paused": True}])
        assert [task.id for task in again] == [added[1].id]
        assert client.add_all([]) == []
        with pytest.raises(ValueError, match="client_key"):
            client.add_all([f"{site.url}/d"], client_key="one")
        with pytest.raises(rpc_errors.InvalidParamsError):
            client.add_all([f"{site.url}/e", "mailto:a@b.test"])
        assert not list(client.tasks(filter={"url_prefix": f"{site.url}/e"}))


def test_add_all_takes_more_tasks_than_one_call(server: str) -> None:
    with xfer.Client(server) as client:
        urls = [f"http://127.0.0.1:9/{number}" for number in range(10_001)]
        added = client.add_all(urls, kind="data", paused=True)
        assert [task.id for task in added] == sorted({task.id for task in added}) and len(added) == 10_001
        # Long tasks are divided by their bytes.
        long = client.add_all(urls[:300], kind="data", paused=True, meta={"text": "a" * 16_000})
        assert len(long) == 300


def test_an_update_of_many_in_the_background_is_waited_for(server: str) -> None:
    with xfer.Client(server) as client:
        client.add_all([f"http://127.0.0.1:9/{number}" for number in range(70)], kind="data", paused=True, group="g")
        counted = client.task.update_many(filter={"group": "g"}, changes={"label": "one"})
        assert isinstance(counted, SelectionResultCounted) and counted.changed_count == 70
        begun = client.task.update_many(filter={"group": "g"}, changes={"label": "two"}, background=True)
        assert isinstance(begun, SelectionResultBegun)
        operation = client.wait_operation(begun.operation, timeout=60)
        assert (operation.verb, operation.state, operation.changed_count) == ("update", "completed", 70)
        assert {task.label for task in client.tasks(filter={"group": "g"})} == {"two"}
        with pytest.raises(rpc_errors.NotFoundError):
            client.wait_operation(4711)


def test_parts_of_an_add_are_bounded_by_number_and_bytes() -> None:
    numbers = [len(part) for part in _calls.add_parts(("http://a.test/" for _ in range(20_001)), {})]
    assert numbers == [10_000, 10_000, 1]
    parts = list(_calls.add_parts(["http://a.test/"] * 7, {"meta": "a" * (1 << 20)}))
    assert [len(part) for part in parts] == [2, 2, 2, 1]
    # One that is longer than a message goes alone, and is refused by the daemon.
    assert [len(part) for part in _calls.add_parts(["http://a.test/"] * 2, {"meta": "a" * (4 << 20)})] == [1, 1]


def test_many_tasks_are_added_and_listed_over_pages(server: str) -> None:
    with xfer.Client(server) as client:
        result = client.task.add(tasks=[{"url": f"http://127.0.0.1/{index}", "paused": True} for index in range(25)])
        assert isinstance(result, TaskAddMany)
        ids = [task.id for task in client.tasks(filter={"state": "paused"}, fields=["url"], order="asc", page=10)]
    assert ids == result.ids


def test_times_cross_the_wire(server: str) -> None:
    begin = datetime.now(timezone(timedelta(hours=2))) + timedelta(days=1)
    with xfer.Client(server) as client:
        record = client.add("http://127.0.0.1/a", not_before=begin, meta={"job": [1, None]}).get()
        assert record.not_before is not None and abs(record.not_before - begin) < timedelta(milliseconds=1)
        assert record.wait is not None and record.wait.reason == "schedule"
        assert record.meta == {"job": [1, None]}
        with pytest.raises(ValueError, match="not_before: a datetime needs a time zone"):
            client.add("http://127.0.0.1/a", not_before=datetime(2027, 1, 1))


def test_null_unsets_and_absence_keeps(server: str) -> None:
    with xfer.Client(server) as client:
        task = client.add("http://127.0.0.1/a", paused=True, label="one", group="g")
        client.task.update(task.id, {"label": None})
        record = task.get()
    assert (record.label, record.group) == (None, "g")


def test_a_lost_answer_does_not_add_twice(tmp_path: Path, daemon: Daemon) -> None:
    relay = Relay(daemon.socket, path=str(tmp_path / "relay"))
    with xfer.Client(str(tmp_path / "relay")) as client:
        client.daemon.status()
        relay.answers_lost = 1
        task = client.add("http://127.0.0.1/a", paused=True)
        assert [found.id for found in client.tasks()] == [task.id]
    relay.close()


def test_a_lost_answer_is_asked_for_again_only_by_methods_that_read(tmp_path: Path, daemon: Daemon) -> None:
    relay = Relay(daemon.socket, path=str(tmp_path / "relay"))
    with xfer.Client(str(tmp_path / "relay")) as client:
        client.daemon.status()
        relay.answers_lost = 1
        assert client.task.list().tasks == []
        relay.answers_lost = 1
        with pytest.raises(xfer.ConnectionLostError, match="queue.pause"):
            client.queue.pause()
    relay.close()


def test_an_idle_connection_that_a_restart_closed_is_replaced(server: str, daemon: Daemon) -> None:
    with xfer.Client(server) as client:
        client.queue.pause()
        daemon.stop()
        daemon.start()
        client.queue.resume()


@pytest.mark.parametrize("prefix", ["", "http+unix://"])
def test_an_answer_that_does_not_come_raises(prefix: str, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        with xfer.Client(f"{prefix}{tmp_path}/s", timeout=0.2) as client:
            with pytest.raises(xfer.CallTimeoutError, match="task.get: no answer within 0.2 seconds"):
                client.task.get(1)


def test_threads_share_a_client(server: str, site: Site) -> None:
    with xfer.Client(server) as client:
        held = client.add(f"{site.url}/held")
        waiting = threading.Thread(target=held.wait)
        waiting.start()
        states: "list[str]" = []
        threads = [
            threading.Thread(target=lambda index=index: states.append(
                str(client.add(f"{site.url}/file?{index}").wait(timeout=60).state)))
            for index in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert states == ["completed"] * 8
        site.release()
        waiting.join(60)
        assert not waiting.is_alive()


def test_a_closed_client_refuses_calls(server: str) -> None:
    client = xfer.Client(server)
    client.daemon.status()
    client.close()
    with pytest.raises(xfer.XferError, match="closed"):
        client.daemon.status()


def test_no_daemon_says_what_was_tried(tmp_path: Path) -> None:
    with pytest.raises(xfer.NoDaemonError, match="/nowhere"):
        xfer.Client(f"{tmp_path}/nowhere").daemon.status()


def test_a_call_beyond_the_daemon_s_limit_has_its_error(server: str) -> None:
    with xfer.Client(server) as client:
        for size in (5 << 20, 20 << 20):
            with pytest.raises(rpc_errors.InvalidRequestError) as caught:
                client.add("http://127.0.0.1/a", meta="x" * size)
            assert caught.value.reason == "message_too_large"
        assert list(client.tasks()) == []
