#!/usr/bin/env python3
"""times.py [EVENTS] [N] [WIDTH]: what the tests of a run took, by target, and the N (20) longest suites and tests, from the events that
.ci/test keeps.

A test is reported as started when it waits for one of the WIDTH (16, XFER_TEST_WIDTH) places. The cases of a test with arguments are reported
once more when they have a place. Other tests are not, so their beginning is estimated: places are given in the order in which tests started,
each when one is free. Seconds include what a test waited for a processor, or for one of Swift's few threads.
"""
import collections
import json
import os
import sys


class Run:
    def __init__(self, path):
        self.functions, self.started, self.ended, self.cases = set(), {}, {}, collections.defaultdict(list)
        ends, instants = {}, []
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                payload = record["payload"]
                if record["kind"] == "test":
                    if payload["kind"] == "function":
                        self.functions.add(payload["id"])
                    continue
                kind, test, now = payload["kind"], payload.get("testID"), payload["instant"]["absolute"]
                instants.append(now)
                if kind == "testStarted":
                    self.started[test] = now
                elif kind == "testEnded":
                    self.ended[test] = now
                elif kind == "testCaseStarted":
                    self.cases[test].append((payload["_testCase"]["id"], now))
                elif kind == "testCaseEnded":
                    ends[test, payload["_testCase"]["id"]] = now
        self.span = instants[-1] - instants[0] if instants else 0
        for test, cases in self.cases.items():
            self.cases[test] = [(begun, ends[test, case]) for case, begun in cases if (test, case) in ends]

    def seconds(self, width):
        """The seconds of each case of each test, which has one if it has no arguments."""
        places = []
        for test, started in self.started.items():
            if test in self.functions and test in self.ended:
                cases = self.cases.get(test) or [(None, self.ended[test])]
                places += [(started, test, begun, ended) for begun, ended in cases]
        places.sort(key=lambda place: place[0])
        free = sorted(ended for _, _, _, ended in places)
        took = collections.defaultdict(list)
        for number, (started, test, begun, ended) in enumerate(places):
            if begun is None:
                begun = max(started, free[number - width]) if number >= width else started
            took[test].append(max(0, ended - begun))
        return took


def main(path=".build/test.events", longest="20", width=os.environ.get("XFER_TEST_WIDTH", "16")):
    run = Run(path)
    took = run.seconds(int(width))
    targets, suites = collections.defaultdict(list), collections.defaultdict(list)
    for test, seconds in took.items():
        targets[test.split(".")[0]].append(sum(seconds))
        suites[test.split("/")[0]].append(sum(seconds))
    print(f"{len(took)} tests in {run.span:.0f} s")
    for target, seconds in sorted(targets.items(), key=lambda item: -sum(item[1])):
        print(f"{target:24}{len(seconds):6}{sum(seconds):10.1f} s, the longest {max(seconds):.1f} s")
    for suite, seconds in sorted(suites.items(), key=lambda item: -sum(item[1]))[: int(longest)]:
        print(f"{sum(seconds):8.1f} s  {len(seconds):5} tests  {suite}")
    for test, seconds in sorted(took.items(), key=lambda item: -sum(item[1]))[: int(longest)]:
        print(f"{sum(seconds):8.1f} s  {len(seconds):5} cases  {test}")


if __name__ == "__main__":
    main(*sys.argv[1:])
