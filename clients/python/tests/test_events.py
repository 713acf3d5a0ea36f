"""Following events over lost connections, restarts and other databases."""
from __future__ import annotations

import threading
from pathlib import Path
from typing import List

import pytest

import xfer
from daemon import Daemon
from relay import Relay
from site_server import Site
from xfer.records import TaskAddedEvent, TaskCompletedEvent, TaskProgressEvent


def added(events: xfer.Events, count: int) -> List[int]:
    """The ids of the next tasks that are added."""
    ids: List[int] = []
    while len(ids) < count:
        try:
            event = next(events)
        except xfer.CallTimeoutError:
            # After a silence the iteration goes on.
            continue
        if isinstance(event, TaskAddedEvent):
            ids.append(event.task_id)
    return ids


def test_events_of_a_download_come_with_their_types(server: str, site: Site) -> None:
    with xfer.Client(server) as client, client.follow(since=0, idle_timeout=60) as events:
        task = client.add(f"{site.url}/file")
        event = next(event for event in events if isinstance(event, TaskCompletedEvent))
        assert (event.task_id, event.size, event.terminal) == (task.id, 65536, True)
        assert event.path is not None and event.time.tzinfo is not None
        assert events.last_seq == event.seq


def test_without_since_only_new_events_come(server: str) -> None:
    with xfer.Client(server) as client:
        client.add("http://127.0.0.1/a", paused=True)
        with client.follow(types="task.added", idle_timeout=60) as events:
            task = client.add("http://127.0.0.1/b", paused=True)
            assert added(events, 1) == [task.id]


def test_events_are_selected_by_type_and_task(server: str, site: Site) -> None:
    with xfer.Client(server) as client:
        tasks = [client.add(f"{site.url}/file?{index}") for index in range(3)]
        for task in tasks:
            task.wait(timeout=60)
        with client.follow(since=0, types=["task.added", "task.completed"], task_ids=tasks[1].id,
                           idle_timeout=60) as events:
            found = [next(events), next(events)]
    assert [(type(event), event.task_id) for event in found] == [
        (TaskAddedEvent, tasks[1].id), (TaskCompletedEvent, tasks[1].id)]


def test_progress_is_told_without_a_number(server: str, site: Site) -> None:
    with xfer.Client(server) as client, client.follow(types="task.progress", idle_timeout=60) as events:
        client.add(f"{site.url}/file", max_recv_rate=30_000, progress_interval=0.1)
        for event in events:
            assert isinstance(event, TaskProgressEvent) and event.seq is None
            if event.total == 65536:
                break


def test_a_cut_connection_loses_and_repeats_nothing(tmp_path: Path, daemon: Daemon) -> None:
    relay = Relay(daemon.socket, path=str(tmp_path / "relay"))
    for prefix in ("", "http+unix://"):
        with xfer.Client(daemon.socket) as client, xfer.Client(f"{prefix}{tmp_path}/relay") as watcher:
            with watcher.follow(types="task.added", idle_timeout=60) as events:
                ids: List[int] = []
                expected = []
                for index in range(5):
                    expected.append(client.add(f"http://127.0.0.1/{index}", paused=True).id)
                    if index % 2:
                        relay.cut()
                    expected.append(client.add(f"http://127.0.0.1/{index}", paused=True).id)
                    ids += added(events, 2)
                assert ids == expected
    relay.close()


def test_a_restart_of_the_daemon_loses_nothing(server: str, daemon: Daemon) -> None:
    with xfer.Client(server) as client, client.follow(types="task.added", idle_timeout=60) as events:
        first = client.add("http://127.0.0.1/a", paused=True)
        daemon.kill()
        daemon.start()
        second = client.add("http://127.0.0.1/b", paused=True)
        assert added(events, 2) == [first.id, second.id]


def test_another_database_ends_the_stream(server: str, daemon: Daemon) -> None:
    with xfer.Client(server) as client, client.follow(since=0, idle_timeout=60) as events:
        next(events)
        store_id = events.store_id
        daemon.kill()
        daemon.remove_database()
        daemon.start()
        with pytest.raises(xfer.StoreChangedError) as caught:
            for _ in events:
                pass
    assert caught.value.expected == store_id


def test_a_daemon_that_stays_away_ends_the_stream(server: str, daemon: Daemon) -> None:
    with xfer.Client(server, reconnect_for=0.3) as client, client.follow(since=0) as events:
        daemon.kill()
        with pytest.raises((xfer.NoDaemonError, xfer.ConnectionLostError)):
            for _ in events:
                pass


def test_events_that_are_no_longer_kept_are_reported_and_the_rest_follows(server: str, daemon: Daemon) -> None:
    with xfer.Client(server) as client:
        for index in range(5):
            client.add(f"http://127.0.0.1/{index}", paused=True)
        daemon.stop()
        daemon.trim_events(before=4)
        daemon.start()
        with client.follow(since=1, idle_timeout=60) as events:
            with pytest.raises(xfer.EventsLostError) as caught:
                next(events)
            assert (caught.value.since, caught.value.first_seq) == (1, 4)
            assert next(events).seq == caught.value.first_seq
        with client.follow(since=0, idle_timeout=60) as events:
            assert next(events).seq == caught.value.first_seq


def test_silence_ends_after_idle_timeout_and_iterating_goes_on(server: str) -> None:
    with xfer.Client(server) as client, client.follow(types="task.added", idle_timeout=0.3) as events:
        with pytest.raises(xfer.CallTimeoutError):
            next(events)
        task = client.add("http://127.0.0.1/a", paused=True)
        assert added(events, 1) == [task.id]


def test_another_thread_ends_the_iteration(server: str) -> None:
    with xfer.Client(server) as client, client.follow(types="task.added") as events:
        timer = threading.Timer(0.3, events.close)
        timer.start()
        assert list(events) == []


def test_calls_are_made_while_events_are_read(server: str, site: Site) -> None:
    with xfer.Client(server) as client, client.follow(types="task.added", idle_timeout=60) as events:
        client.add(f"{site.url}/file")
        for event in events:
            assert event.task_id is not None
            assert client.attach(event.task_id).wait(timeout=60).state == "completed"
            break
