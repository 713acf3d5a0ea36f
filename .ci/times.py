#!/usr/bin/env python3
"""times.py [EVENTS] [N]: what the tests of a run took, by target, and the N (20) longest, from the events that .ci/test keeps.

Tests run beside each other, so seconds of a test include what it waited for a processor.
"""
import collections
import json
import sys


def read(path):
    begun, took, functions, first, last = {}, {}, set(), None, None
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            payload = record["payload"]
            if record["kind"] == "test":
                if payload["kind"] == "function":
                    functions.add(payload["id"])
                continue
            now = payload["instant"]["absolute"]
            first, last = first or now, now
            if payload["kind"] == "testStarted":
                begun[payload["testID"]] = now
            elif payload["kind"] == "testEnded" and payload["testID"] in begun:
                took[payload["testID"]] = now - begun[payload["testID"]]
    return {test: seconds for test, seconds in took.items() if test in functions}, (last or 0) - (first or 0)


def main(path=".build/test.events", longest="20"):
    took, span = read(path)
    targets = collections.defaultdict(list)
    for test, seconds in took.items():
        targets[test.split(".")[0]].append(seconds)
    print(f"{len(took)} tests in {span:.0f} s")
    for target, seconds in sorted(targets.items(), key=lambda item: -sum(item[1])):
        print(f"{target:24}{len(seconds):6}{sum(seconds):10.1f} s, the longest {max(seconds):.1f} s")
    for test, seconds in sorted(took.items(), key=lambda item: -item[1])[: int(longest)]:
        print(f"{seconds:8.1f} s  {test}")


if __name__ == "__main__":
    main(*sys.argv[1:])
