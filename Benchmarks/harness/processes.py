"""Looking at processes, and waiting for them."""

import ctypes
import os
import pathlib
import resource
import signal
import subprocess
import time

from .measure import Failed


def raise_file_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def allow_files(count):
    """Raises the limit of open files to that for what is started from now on. Answers the limit, which may be lower."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < count:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
        except ValueError:
            return hard
    return max(hard, count)


def wait_until(is_ready, what, process=None, seconds=60, every=0.01):
    deadline = time.monotonic() + seconds
    while not is_ready():
        if process is not None and process.poll() is not None:
            raise Failed(f"{what}: the process ended with {process.returncode}")
        if time.monotonic() > deadline:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(every)


def cpu_seconds(pid):
    """Processor time of all its threads, those that have ended included (clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2)


def memory(pid, field="VmRSS"):
    """MB (10^6) of a line of /proc/PID/status; VmHWM is the peak."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024 / 1e6
    raise Failed(f"process {pid} has no {field}")


def wake_ups(pid, seconds):
    """How often its threads go on after having waited."""
    before = _switches(pid)
    time.sleep(seconds)
    after = _switches(pid)
    # A thread that has ended has woken up to end.
    return sum(after[thread] - before.get(thread, 0) for thread in after) + len(before.keys() - after.keys())


def _switches(pid):
    counts = {}
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        for line in status.read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches:"):
                counts[status.parent.name] = int(line.split()[1])
    return counts


LIBC = ctypes.CDLL(None)


def end_with_parent():
    """For the child: if the benchmark is killed, nothing it started stays (prctl(2), PR_SET_PDEATHSIG)."""
    LIBC.prctl(1, signal.SIGTERM)


def start(command, is_brief=False, **options):
    """A brief one ends by itself, so it need not run Python of ours first, for which this whole process is forked."""
    prepare = None if is_brief else end_with_parent
    return subprocess.Popen([str(word) for word in command], preexec_fn=prepare, **options)


def stop(process, seconds=60):
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def timed(command, **options):
    """Runs a command to its end. Answers its wall-clock seconds, processor seconds and peak memory in MB."""
    errors = options.pop("errors")
    text = options.pop("input", None)
    begin = time.monotonic()
    with open(errors, "w") as sink:
        process = start(
            command, stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=sink, **options)
        if text is not None:
            try:
                process.stdin.write(text.encode())
                process.stdin.close()
            except BrokenPipeError:
                pass
        _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        said = pathlib.Path(errors).read_text()[-1500:]
        raise Failed(f"{pathlib.Path(str(command[0])).name} ended with {process.returncode}: {said}")
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6
