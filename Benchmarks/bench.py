#!/usr/bin/python3
"""xfer beside curl, aria2 and wget2, and what long queues cost it: `make bench`.

Every tool fetches the same files from an nginx of our own on a free port of 127.0.0.1, in alternating order, and what
arrived is checked. Served files and, unless a row says otherwise, downloads lie in memory, xfer's database on the disk.
Medians count; absolute figures say little about other machines, the ratios do. xfer's figure is what a user waits for:
xferctl from its start to its end, the task durable before it begins and the file durable before it ends; the others
promise neither. Nothing here is a test.
"""

import argparse
import os
import pathlib
import shutil
import signal
import sys
import tempfile

sys.dont_write_bytecode = True

from harness import processes, report
from harness.measure import Failed
from rows import ALL

HOME = pathlib.Path(__file__).resolve().parent
FULL = {"size": 2048, "count": 10_000, "many": 1_000_000, "rounds": 5}
SMALL = {"size": 64, "count": 500, "many": 20_000, "rounds": 2}


class Bench:
    """What every row is given: sizes, programs, and directories that are gone at the end."""

    def __init__(self, arguments, memory, disk):
        self.size, self.count, self.many = arguments.size, arguments.count, arguments.many
        self.rounds = arguments.rounds
        self.programs = arguments.programs
        self.place = memory
        self.disk = disk

    def new_directory(self, name, on_disk=False):
        return pathlib.Path(tempfile.mkdtemp(prefix=name + "-", dir=self.disk if on_disk else self.place))

    def require_memory(self, size):
        """Files in memory must leave half of it to everything else."""
        free = shutil.disk_usage(self.place).free
        available = next(
            int(line.split()[1]) << 10 for line in pathlib.Path("/proc/meminfo").read_text().splitlines()
            if line.startswith("MemAvailable"))
        if size > free or size > available // 2:
            raise Failed(f"{size >> 20} MiB of files in memory do not fit: {min(free, available // 2) >> 20} MiB do")


def main():
    arguments = parsed_arguments()
    processes.raise_file_limit()
    # Ctrl-C and a plain kill unwind, so that everything that was started is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if arguments.write and b"libswiftSwiftOnoneSupport" in (arguments.programs / "xferctl").read_bytes():
        sys.exit("bench.py: --programs were built for tests, and xferctl is not optimised there; make build")
    is_written = arguments.write and all(getattr(arguments, key) == value for key, value in FULL.items())
    results = report.Report(arguments.results, arguments.programs, ALL) if is_written else None
    failed = []
    with tempfile.TemporaryDirectory(prefix="xfer-bench-", dir=arguments.memory) as memory, \
            tempfile.TemporaryDirectory(prefix="xfer-bench-", dir=arguments.disk) as disk:
        bench = Bench(arguments, pathlib.Path(memory), pathlib.Path(disk))
        for name in arguments.rows:
            load = os.getloadavg()[0]
            try:
                outcome = ALL[name](bench)
            except (Failed, OSError) as error:
                failed.append(name)
                print(f"## {name}\n\nNOT MEASURED: {error}\n", flush=True)
                continue
            print(report.section(name, outcome, load))
            print("\n".join(report.verdict_lines(name, outcome)) + "\n", flush=True)
            if results:
                results.replace(name, outcome, load)
    if not results:
        print("Only printed: results are written for runs in full size with --write.")
    sys.exit(f"bench.py: not measured: {', '.join(failed)}" if failed else 0)


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default=",".join(ALL), help="; ".join(ALL))
    parser.add_argument("--small", action="store_true", help="sizes that take seconds, to see that everything runs")
    parser.add_argument("--size", type=int, help=f"MiB of the big file ({FULL['size']})")
    parser.add_argument("--count", type=int, help=f"small files; adds and queues follow it ({FULL['count']})")
    parser.add_argument("--many", type=int, help=f"tasks of the longest queue ({FULL['many']})")
    parser.add_argument("--rounds", type=int, help=f"alternating runs that count ({FULL['rounds']})")
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path(".build/release"))
    parser.add_argument("--memory", default="/dev/shm", help="a directory on tmpfs")
    parser.add_argument("--disk", default="/var/tmp", help="a directory on a disk")
    parser.add_argument("--write", action="store_true", help="put the rows into the results")
    parser.add_argument("--results", type=pathlib.Path, default=HOME / "RESULTS.md")
    arguments = parser.parse_args()
    for key, value in (SMALL if arguments.small else FULL).items():
        if getattr(arguments, key) is None:
            setattr(arguments, key, value)
    arguments.rows = arguments.rows.split(",")
    if unknown := set(arguments.rows) - set(ALL):
        parser.error(f"unknown rows: {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    arguments.programs = arguments.programs.resolve()
    return arguments


if __name__ == "__main__":
    main()
