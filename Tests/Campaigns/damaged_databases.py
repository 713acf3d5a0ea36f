#!/usr/bin/python3
"""Seeded damage to databases and their logs.

    damaged_databases.py [--damages N] [--seed N]

A start succeeds, or it ends with 78 and has written nothing. --check-database finds what a start refuses. --recover saves
what a start would list, names what is lost, and leaves a database that is sound. No queue is empty without a word. Prints
how each kind of damage went; exit status 1 when one of these does not hold.
"""

import argparse
import collections
import random
import shutil
import sqlite3
import sys
import tempfile

from xferd import CallFailed, Daemon

TASKS = 120
PAGE = 4096
DATABASE, LOG = "xferd.sqlite", "xferd.sqlite-wal"
#: Words of the schema.
WORDS = [b"CREATE", b"TABLE", b"INDEX", b"TEXT", b"INTEGER", b"STRICT", b"WHERE", b"task", b"state", b"event", b"store"]
#: Damages to the log cost the commits behind them, which the program cannot know of.
OF_THE_LOG = {"cut_log", "flip_log"}
DAMAGE = 78


def files(daemon):
    return {name: (daemon.state / name).read_bytes() for name in (DATABASE, LOG) if (daemon.state / name).exists()}


def put(daemon, contents):
    shutil.rmtree(daemon.state, ignore_errors=True)
    daemon.state.mkdir(mode=0o700)
    for name, content in contents.items():
        (daemon.state / name).write_bytes(content)
        (daemon.state / name).chmod(0o600)


def sound_databases():
    """What a kill leaves, nearly all of it in the log, and what a stop leaves, all of it in the database."""
    daemon = Daemon(settings=["download.reserve=1Mi"]).start()
    for number in range(TASKS):
        task = {"url": f"http://127.0.0.1:9/{number}", "paused": True, "headers": {"X-Number": str(number)}}
        daemon.call("task.add", task)
    daemon.kill()
    killed = files(daemon)
    daemon.start()
    daemon.stop()
    stopped = files(daemon)
    daemon.remove()
    return {"killed": killed, "stopped": stopped}


# Damages: each changes the contents, or answers False where there is nothing to damage.


def flip(contents, generator):
    for _ in range(generator.randint(1, 8)):
        contents[DATABASE][generator.randrange(len(contents[DATABASE]))] ^= generator.randint(1, 255)


def flip_schema(contents, generator):
    contents[DATABASE][generator.randrange(min(6 * PAGE, len(contents[DATABASE])))] ^= generator.randint(1, 255)


def flip_log(contents, generator):
    if LOG not in contents:
        return False
    contents[LOG][generator.randrange(len(contents[LOG]))] ^= generator.randint(1, 255)


def truncate(contents, generator):
    del contents[DATABASE][generator.randrange(1, len(contents[DATABASE])) :]


def cut_log(contents, generator):
    if LOG not in contents:
        return False
    del contents[LOG][generator.randrange(1, len(contents[LOG])) :]


def drop_page(contents, generator):
    database = contents[DATABASE]
    if len(database) <= 2 * PAGE:
        return False
    start = generator.randrange(len(database) // PAGE) * PAGE
    database[start : start + PAGE] = bytes(PAGE)


def misspell(word, content, generator):
    places = [place for place in range(len(content)) if content.startswith(word, place)]
    if not places:
        return False
    place = generator.choice(places) + generator.randrange(len(word))
    before = content[place]
    content[place] = generator.randrange(ord("a"), ord("z") + 1)
    return content[place] != before


def misspell_schema(contents, generator):
    return misspell(generator.choice(WORDS), contents[DATABASE], generator)


def misspell_row(contents, generator):
    return any(misspell(word, contents[DATABASE], generator) for word in (b"headers", b"X-Number"))


def drop_database(contents, _):
    if LOG not in contents:
        return False
    del contents[DATABASE]


def empty_database(contents, _):
    if LOG not in contents:
        return False
    contents[DATABASE].clear()


def exchange_roots(contents, generator):
    """Two tables have each other's root page."""
    if LOG in contents:
        return False
    with tempfile.NamedTemporaryFile() as file:
        file.write(contents[DATABASE])
        file.flush()
        database = sqlite3.connect(file.name, isolation_level=None)
        tables = database.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
        (one, first), (other, second) = generator.sample(tables, 2)
        if generator.randrange(2):
            one, first = "task", dict(tables)["task"]
        database.execute("PRAGMA writable_schema = ON")
        for name, root in (one, second), (other, first):
            database.execute("UPDATE sqlite_schema SET rootpage = ? WHERE name = ?", (root, name))
        database.close()
        file.seek(0)
        contents[DATABASE][:] = file.read()
    return one != other


DAMAGES = [
    flip, flip_schema, flip_log, truncate, cut_log, drop_page, misspell_schema, drop_database, empty_database,
    misspell_row, exchange_roots,
]


class Observation:
    """What a start does and lists: `status` is None where it succeeds."""

    def __init__(self, daemon):
        self.status, self.listed, self.unreadable, self.refusal, self.store = None, 0, 0, "", None
        try:
            daemon.start()
        except RuntimeError:
            self.status = daemon.process.returncode
            return
        try:
            self.store = daemon.call("daemon.status")["store_id"]
            page = daemon.call("task.list", {"limit": 1000, "fields": ["state"]})
            self.listed, self.unreadable = len(page["tasks"]), len(page.get("unreadable", []))
        except (CallFailed, ConnectionError) as error:
            self.refusal = str(error)
        daemon.kill()

    @property
    def start(self):
        if self.status is not None:
            return str(self.status)
        if self.refusal:
            return "refuses the list"
        return f"lists {amount(self.listed + self.unreadable)}"


def amount(count):
    return "all" if count >= TASKS else "some" if count else "none"


class Campaign:
    def __init__(self, options):
        self.options = options
        self.sound = sound_databases()
        self.tally = collections.Counter()
        self.problems = []

    def run(self):
        done, seed = 0, self.options.seed
        while done < self.options.damages:
            seed += 1
            generator = random.Random(seed)
            damage = DAMAGES[seed % len(DAMAGES)]
            origin = generator.choice(sorted(self.sound))
            contents = {name: bytearray(content) for name, content in self.sound[origin].items()}
            if damage(contents, generator) is False:
                continue
            done += 1
            self.try_one(damage.__name__, f"seed {seed} {damage.__name__} {origin}", contents)
        for line, count in sorted(self.tally.items()):
            print(f"{count:4} {line}")
        print(f"{done} damages, {len(self.problems)} problems")
        return 1 if self.problems else 0

    def expect(self, condition, name, problem):
        if not condition:
            print("PROBLEM", f"{name}: {problem}", flush=True)
            self.problems.append(problem)

    def try_one(self, kind, name, contents):
        daemon = Daemon(settings=["download.reserve=1Mi"])
        problems = len(self.problems)
        put(daemon, contents)
        check, text = daemon.once("--check-database")
        self.expect(check in (0, DAMAGE), name, f"the check ended with {check}: {text[:300]}")
        put(daemon, contents)
        before = files(daemon)
        seen = Observation(daemon)
        self.judge_start(kind, name, seen, check, is_untouched=files(daemon) == before)
        put(daemon, contents)
        saved = self.recover(kind, name, daemon, seen)
        self.tally[f"{kind:15} start {seen.start}, check {check}, saved {amount(saved)}"] += 1
        if len(self.problems) > problems:
            print(f"the start of {name}: {vars(seen)}\n{daemon.log_text()}", flush=True)
        daemon.remove()

    def judge_start(self, kind, name, seen, check, is_untouched):
        self.expect(seen.status in (None, DAMAGE), name, f"a start ended with {seen.status}")
        if seen.status == DAMAGE:
            self.expect(is_untouched, name, "a refused start wrote")
            self.expect(check == DAMAGE, name, f"a start is refused and the check ends with {check}")
        elif not seen.refusal:
            known = seen.listed + seen.unreadable
            if check == 0 and kind not in OF_THE_LOG:
                self.expect(known >= TASKS, name, f"{known} of {TASKS} are known, and the check finds nothing")
            self.expect(known > 0 or kind == "cut_log", name, "an empty queue without a word")

    def recover(self, kind, name, daemon, seen):
        """How many tasks a start lists afterwards."""
        status, text = daemon.once("--recover")
        self.expect(status == 0, name, f"recovery ended with {status}: {text[-300:]}")
        check, findings = daemon.once("--check-database")
        self.expect(check == 0, name, f"after recovery the check ended with {check}: {findings[:300]}")
        again = Observation(daemon)
        is_clear = again.status is None and not again.unreadable and not again.refusal
        self.expect(is_clear, name, f"after recovery a start: {vars(again)}")
        self.expect(again.listed >= seen.listed, name, f"recovery saved {again.listed} of {seen.listed}")
        if again.listed < TASKS and kind not in OF_THE_LOG:
            self.expect("lost:" in text, name, f"{TASKS - again.listed} are lost without a line")
        return again.listed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damages", type=int, default=240)
    parser.add_argument("--seed", type=int, default=0)
    sys.exit(Campaign(parser.parse_args()).run())


main()
