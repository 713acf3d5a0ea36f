#!/usr/bin/env python3
"""outcome.py EVENTS REPEAT: how a test run ended, by the events swift test wrote (--event-stream-output-path).

Says what failed and what did not end, and writes to REPEAT a pattern for --filter for each of these.
Exits with 0 when all passed, 1 when what is in REPEAT decides, 2 when the run itself went wrong.
"""
import json
import re
import sys

# More than so many failures at once are no accident.
MOST_REPEATED = 4
LONGEST_MESSAGE = 600


def records(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                pass  # The last line of a process that was killed.


class Run:
    def __init__(self, path):
        self.functions, self.begun, self.ended, self.skipped = set(), set(), set(), set()
        self.issues, self.is_whole = {}, False
        for record in records(path):
            payload = record["payload"]
            if record["kind"] == "test":
                if payload["kind"] == "function":
                    self.functions.add(payload["id"])
                continue
            kind, test = payload["kind"], payload.get("testID")
            if kind == "runEnded":
                self.is_whole = True
            elif kind == "testStarted":
                self.begun.add(test)
            elif kind == "testEnded":
                self.ended.add(test)
            elif kind == "testSkipped":
                self.skipped.add(test)
            elif kind == "issueRecorded" and not payload["issue"].get("isKnown"):
                self.issues.setdefault(test, []).append(payload)

    @property
    def failed(self):
        return set(self.issues)

    @property
    def unfinished(self):
        return (self.begun & self.functions) - self.ended

    @property
    def never_begun(self):
        return set() if self.is_whole else self.functions - self.begun - self.skipped


def without_place(test):
    return test.rsplit("/", 1)[0] if re.search(r"\.swift:\d+:\d+$", test) else test


def describe(run):
    for test in sorted(run.failed, key=str):
        print(f"FAILED  {without_place(test) if test else 'outside of any test'}")
        for issue in run.issues[test]:
            place = issue["issue"].get("sourceLocation") or {}
            text = " ".join(message["text"] for message in issue["messages"])
            print(f"        {place.get('fileID', '?')}:{place.get('line', '?')}: {text[:LONGEST_MESSAGE]}")
    for test in sorted(run.unfinished):
        print(f"HUNG    {without_place(test)}" if not run.is_whole else f"UNENDED {without_place(test)}")
    if run.never_begun:
        print(f"{len(run.never_begun)} tests were never begun")


def main(events, repeat):
    run = Run(events)
    describe(run)
    wanted = run.failed | run.unfinished
    with open(repeat, "w", encoding="utf-8") as file:
        file.writelines(f"^{re.escape(without_place(test))}/?\n" for test in sorted(wanted, key=str) if test)
    if not run.functions or run.never_begun or None in wanted or len(wanted) > MOST_REPEATED:
        return 2
    if wanted:
        return 1
    return 0 if run.is_whole else 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
