"""The client for asyncio against a real daemon, in both dialects."""
from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, AsyncIterator, List

import pytest

import xfer
from daemon import Daemon
from relay import Relay
from site_server import CONTENT, Site
from xfer import rpc_errors
from xfer._async_connection import bounded
from xfer.records import SelectionResultBegun, TaskAddedEvent, TaskRecord


async def added(events: xfer.AsyncEvents, count: int) -> List[int]:
    """The ids of the next tasks that are added."""
    ids: List[int] = []
    while len(ids) < count:
        try:
            event = await events.__anext__()
        except xfer.CallTimeoutError:
            # After a silence the iteration goes on.
            continue
        if isinstance(event, TaskAddedEvent):
            ids.append(event.task_id)
    return ids


async def sent(client: xfer.AsyncClient) -> None:
    """Returns when the calls that were begun before are with the daemon: a later one is answered."""
    # The loop runs them first.
    await asyncio.sleep(0)
    await client.daemon.status()


def test_an_added_download_is_waited_for_and_published(server: str, daemon: Daemon, site: Site) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            task = await client.add(f"{site.url}/file", output="out.bin")
            record = await task.wait(timeout=60)
            assert record.final_path == str(daemon.downloads / "out.bin")
            assert Path(record.final_path).read_bytes() == CONTENT

    asyncio.run(run())


def test_more_waits_than_a_connection_takes_go_on_at_the_same_time(server: str, site: Site) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            tasks = [await client.add(f"{site.url}/held?{index}") for index in range(80)]
            waits = [asyncio.ensure_future(task.wait(timeout=60)) for task in tasks]
            await sent(client)
            assert (await asyncio.wait_for(client.queue.stats(), 10)).counts.completed == 0
            site.release()
            assert {record.state for record in await asyncio.gather(*waits)} == {"completed"}

    asyncio.run(run())


def test_any_number_of_calls_takes_at_most_four_connections(server: str, site: Site) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            task = await client.add(f"{site.url}/held")
            waits = [asyncio.ensure_future(client.task.wait(ids=[task.id], timeout=60)) for _ in range(300)]
            await asyncio.gather(*(client.daemon.status() for _ in range(300)))
            assert client._opened <= 4
            site.release()
            assert {wait.timed_out for wait in await asyncio.gather(*waits)} == {False}
            assert client._opened <= 4

    asyncio.run(run())


def test_many_tasks_are_waited_for_by_one_call(server: str, site: Site) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            tasks = [await client.add(f"{site.url}/held?{index}") for index in range(40)]
            tasks.append(await client.add(f"{site.url}/missing"))
            waiting = asyncio.ensure_future(client.wait_all(tasks, timeout=60))
            await sent(client)
            site.release()
            records = await waiting
            assert [record.id for record in records] == [task.id for task in tasks]
            assert [record.state for record in records] == ["completed"] * 40 + ["failed"]
            with pytest.raises(xfer.TaskRemovedError):
                await tasks[0].remove()
                await client.wait_all(tasks[:2])
            held = await client.add(f"{site.url}/held?late", paused=True)
            with pytest.raises(xfer.WaitTimeoutError):
                await client.wait_all([held], timeout=0.1)

    asyncio.run(run())


def test_add_all_adds_tasks_that_wait_all_waits_for(server: str, site: Site) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            added = await client.add_all((f"{site.url}/file?{number}" for number in range(50)), kind="data")
            records = await client.wait_all(added, timeout=60)
            assert [record.id for record in records] == [task.id for task in added]
            assert {record.state for record in records} == {"completed"}
            with pytest.raises(ValueError, match="client_key"):
                await client.add_all([f"{site.url}/d"], client_key="one")

    asyncio.run(run())


def test_errors_have_their_types(server: str, site: Site) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            with pytest.raises(rpc_errors.InvalidParamsError) as caught:
                await client.task.list(limit=0)
            assert (caught.value.reason, caught.value.path) == ("out_of_range", "limit")
            task = await client.add(f"{site.url}/missing")
            with pytest.raises(xfer.TaskFailedError, match="404"):
                await task.wait(timeout=60)
            held = await client.add(f"{site.url}/held")
            with pytest.raises(xfer.WaitTimeoutError):
                await held.wait(timeout=0.2)
            assert await held.cancel()
            with pytest.raises(xfer.TaskCancelledError):
                await held.wait(timeout=60)

    asyncio.run(run())


def test_waiting_outlives_a_crash_of_the_daemon(server: str, daemon: Daemon, site: Site) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            task = await client.add(f"{site.url}/held")
            wait = asyncio.ensure_future(task.wait(timeout=60))
            await sent(client)
            daemon.kill()
            site.release()
            await asyncio.get_running_loop().run_in_executor(None, daemon.start)
            assert (await wait).state == "completed"

    asyncio.run(run())


def test_adding_following_and_wait_all_look_for_a_daemon_that_went_away(
    server: str, daemon: Daemon, site: Site, searches: List[Exception], monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            await client.daemon.status()
            daemon.kill()
            added = await client.add_all([f"{site.url}/file?1", f"{site.url}/missing"], kind="data")
            assert len(searches) == 1
            daemon.kill()
            added.append(await client.add(f"{site.url}/file?2", kind="data"))
            assert len(searches) == 2
            daemon.kill()
            async with client.follow(since=0, types="task.added", idle_timeout=60) as events:
                assert [(await events.__anext__()).task_id for _ in added] == [task.id for task in added]
            assert len(searches) == 3
            listed = client.tasks

            def kill_and_list(**arguments: Any) -> AsyncIterator[TaskRecord]:
                if len(searches) == 3:
                    daemon.kill()
                return listed(**arguments)

            monkeypatch.setattr(client, "tasks", kill_and_list)
            records = await client.wait_all(added, timeout=60)
            assert [record.state for record in records] == ["completed", "failed", "completed"]
            assert len(searches) == 4

    asyncio.run(run())


def test_waiting_and_following_detect_another_database(server: str, daemon: Daemon, site: Site) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            task = await client.add(f"{site.url}/held")
            async with client.follow(since=0, idle_timeout=60) as events:
                await events.__anext__()
                daemon.kill()
                daemon.remove_database()
                daemon.start()
                await client.add(f"{site.url}/held?other")
                with pytest.raises(xfer.StoreChangedError):
                    async for _ in events:
                        pass
            with pytest.raises(xfer.StoreChangedError):
                await task.wait(timeout=60)

    asyncio.run(run())


def test_a_cut_connection_loses_and_repeats_nothing(tmp_path: Path, daemon: Daemon) -> None:
    relay = Relay(daemon.socket, path=str(tmp_path / "relay"))

    async def run(prefix: str) -> None:
        async with xfer.AsyncClient(daemon.socket) as client, xfer.AsyncClient(f"{prefix}{tmp_path}/relay") as watcher:
            async with watcher.follow(types="task.added", idle_timeout=60) as events:
                ids: List[int] = []
                expected: List[int] = []
                for index in range(5):
                    expected.append((await client.add(f"http://127.0.0.1/{index}", paused=True)).id)
                    if index % 2:
                        relay.cut()
                    expected.append((await client.add(f"http://127.0.0.1/{index}", paused=True)).id)
                    ids += await added(events, 2)
                assert ids == expected

    asyncio.run(run(""))
    asyncio.run(run("http+unix://"))
    relay.close()


def test_a_burst_of_events_comes_whole_to_a_slow_reader(server: str) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            async with client.follow(types="task.added", idle_timeout=60) as events:
                for _ in range(3):
                    await client.task.add(
                        tasks=[{"url": f"http://127.0.0.1/{index}", "paused": True} for index in range(3000)])
                # Sleeps: a reader that is slower than the events is the subject.
                await asyncio.sleep(0.5)
                ids = await added(events, 9000)
                assert ids == sorted(set(ids))

    asyncio.run(run())


def test_events_that_are_no_longer_kept_are_reported(server: str, daemon: Daemon) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            await client.add("http://127.0.0.1/a", paused=True)
            daemon.stop()
            daemon.trim_events(before=3)
            daemon.start()
            events = client.follow(since=1, idle_timeout=60)
            with pytest.raises(xfer.EventsLostError):
                await events.__anext__()
            assert (await events.__anext__()).seq == 3
            events.close()

    asyncio.run(run())


def test_a_lost_answer_does_not_add_twice(tmp_path: Path, daemon: Daemon) -> None:
    relay = Relay(daemon.socket, path=str(tmp_path / "relay"))

    async def run() -> None:
        async with xfer.AsyncClient(str(tmp_path / "relay")) as client:
            await client.daemon.status()
            relay.answers_lost = 1
            task = await client.add("http://127.0.0.1/a", paused=True)
            assert [found.id async for found in client.tasks()] == [task.id]

    asyncio.run(run())
    relay.close()


def test_calls_whose_connections_are_lost_log_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = str(tmp_path / "s.sock")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        # Most calls are not read: their writes fail.
        writer.close()

    async def run() -> None:
        async with await asyncio.start_unix_server(serve, path), xfer.AsyncClient(path) as client:
            calls = (client.call("task.add", {"url": f"http://a.test/{number}"}) for number in range(2000))
            for error in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(error, xfer.ConnectionLostError)

    asyncio.run(run())
    assert caplog.messages == []


def test_a_cancelled_call_leaves_the_client_usable(server: str, site: Site) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            task = await client.add(f"{site.url}/held", kind="data")
            wait = asyncio.ensure_future(task.wait())
            await sent(client)
            wait.cancel()
            with pytest.raises(asyncio.CancelledError):
                await wait
            site.release()
            await task.wait(timeout=60)
            assert await task.content() == CONTENT

    asyncio.run(run())


def test_a_cancellation_that_comes_with_the_result_is_not_lost() -> None:
    """Before Python 3.12 asyncio.wait_for returns the result, and who waits in a loop goes on."""
    async def run(steps: int) -> None:
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        discarded: List[int] = []
        work = asyncio.ensure_future(bounded(answer, 60, discarded.append))
        await asyncio.sleep(0)
        answer.set_result(1)
        for _ in range(steps):
            await asyncio.sleep(0)
        assert work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert discarded == [1]

    for steps in range(2):
        asyncio.run(run(steps))


def test_an_operation_that_takes_too_long_is_cancelled() -> None:
    async def run() -> None:
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        with pytest.raises(asyncio.TimeoutError):
            await bounded(answer, 0)
        assert answer.cancelled()

    asyncio.run(run())


def test_silence_and_closing_end_the_iteration(server: str) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            async with client.follow(types="task.added", idle_timeout=0.2) as events:
                with pytest.raises(xfer.CallTimeoutError):
                    await events.__anext__()
                task = await client.add("http://127.0.0.1/a", paused=True)
                assert await added(events, 1) == [task.id]
            endless = client.follow(types="task.added")
            asyncio.get_running_loop().call_later(0.2, endless.close)
            assert [event async for event in endless] == []

    asyncio.run(run())


def test_a_background_operation_is_waited_for(server: str) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            await client.add_all(
                [f"http://127.0.0.1:9/{number}" for number in range(40)], kind="data", paused=True, group="g")
            begun = await client.task.update_many(
                filter={"group": "g"}, changes={"label": "two"}, background=True)
            assert isinstance(begun, SelectionResultBegun)
            operation = await client.wait_operation(begun.operation, timeout=60)
            assert (operation.state, operation.changed_count) == ("completed", 40)

    asyncio.run(run())


def test_no_daemon_says_what_was_tried(tmp_path: Path) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(f"{tmp_path}/nowhere") as client:
            with pytest.raises(xfer.NoDaemonError, match="/nowhere"):
                await client.daemon.status()
            with pytest.raises(xfer.NoDaemonError, match="/nowhere"):
                async for _ in client.follow():
                    pass

    asyncio.run(run())


def test_a_call_beyond_the_daemon_s_limit_has_its_error(server: str) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(server) as client:
            for size in (5 << 20, 20 << 20):
                with pytest.raises(rpc_errors.InvalidRequestError) as caught:
                    await client.add("http://127.0.0.1/a", meta="x" * size)
                assert caught.value.reason == "message_too_large"
            assert [task async for task in client.tasks()] == []

    asyncio.run(run())
