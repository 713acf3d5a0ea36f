"""One Markdown file: what is asked and what was seen, then every row's figures.

Rows that are run alone replace their own part and leave the others as they are, each with its date.
"""

import datetime
import os
import pathlib
import platform
import re
import shutil
import subprocess

HEAD = """# How fast it is

Written by `make bench` (`make bench ROW={name}` measures one row anew). The ratios between what was measured side by side
in one run are what counts; seconds are this machine's.

"""


def machine():
    memory = re.search(r"MemTotal: +(\d+)", pathlib.Path("/proc/meminfo").read_text())
    processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    lines = [
        f"{os.cpu_count()} cores" + (f" ({processor[1].strip()})" if processor else ""),
        f"{int(memory[1]) / (1 << 20):.0f} GiB of memory", f"Linux {platform.release()}",
    ]
    return ", ".join(lines)


def versions(programs):
    found = []
    for command, pattern in (
        ([programs / "xferd", "--version"], r"\S+"), (["aria2c", "--version"], r"aria2 version (\S+)"),
        (["curl", "--version"], r"curl (\S+)"), (["wget2", "--version"], r"GNU Wget2 (\S+)"),
        (["nginx", "-v"], r"nginx/(\S+)"), (["openssl", "version"], r"OpenSSL (\S+)"),
        (["wrk", "-v"], r"wrk (\S+)"),
    ):
        name = pathlib.Path(command[0]).name
        program = shutil.which(str(command[0]), path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if program is None:
            found.append(f"no {name}")
            continue
        output = subprocess.run([program, *command[1:]], capture_output=True, text=True)
        version = re.search(pattern, output.stdout + output.stderr)
        found.append(f"{name} {version[version.lastindex or 0] if version else '?'}")
    return ", ".join(found)


def number(value):
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def section(name, outcome, load):
    """A row's part of the file."""
    when = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    lines = [f"## {name}", "", outcome.title + ".", ""]
    lines += ["| figure | tool | median | least | most | values | xfer ÷ it |", "|---|---|---|---|---|---|---|"]
    for figure in outcome.in_order():
        own = outcome.find(figure.what, "xfer")
        ratio = "" if own is None or own is figure or not figure.median else f"{own.median / figure.median:.2f}"
        values = [f"{number(value)} {figure.unit}" for value in (figure.median, min(figure.values), max(figure.values))]
        lines.append("| " + " | ".join([figure.what, figure.tool, *values, str(len(figure.values)), ratio]) + " |")
    lines += ["", *[f"{note}\n" for note in outcome.notes]]
    lines.append(f"Measured {when}; load before it {load:.1f}.")
    return "\n".join(lines) + "\n"


def verdict_lines(name, outcome):
    """A row's lines of the table at the top."""
    return [
        f"| [{name}](#{name}) | {verdict.asked} | {verdict.seen} | {'yes' if verdict.is_met else '**no**'} |"
        for verdict in outcome.verdicts]


class Report:
    """The file as it is, to be changed row by row."""

    def __init__(self, path, programs, order):
        self.path = path
        self.programs = programs
        self.order = list(order)
        self.verdicts = {}
        self.sections = {}
        if path.exists():
            self._parse(path.read_text())

    def _parse(self, text):
        for line in text.splitlines():
            if match := re.match(r"\| \[([a-z0-9-]+)\]\(#", line):
                self.verdicts.setdefault(match[1], []).append(line)
        for part in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
            name = part.splitlines()[0].removeprefix("## ").strip()
            self.sections[name] = part.rstrip("\n") + "\n"

    def replace(self, name, outcome, load):
        self.verdicts[name] = verdict_lines(name, outcome)
        self.sections[name] = section(name, outcome, load)
        self._write()

    def _write(self):
        names = [name for name in self.order if name in self.sections]
        lines = [HEAD.replace("{name}", "NAME"), f"{machine()}; {versions(self.programs)}.\n"]
        lines += ["| row | asked | seen | met |", "|---|---|---|---|"]
        lines += [line for name in names for line in self.verdicts.get(name, [])]
        text = "\n".join(lines) + "\n\n" + "\n".join(self.sections[name] for name in names)
        self.path.write_text(text)
