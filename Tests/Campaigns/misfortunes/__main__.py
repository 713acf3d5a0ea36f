"""Public cases of honest but unlucky servers, with xfer beside curl, wget and aria2c.

    misfortunes [--cases TEXT] [--json]

Each program does the same job with a server of its own, one after the other, within the case's limit (10 or 20 s). A
program that fails is run again, twice at most. xfer has no setting for its retry delays, so they are those of users.

Prints a table in Markdown, or JSON. Exit status 1 if another program has the right file and xfer has not, unless it says
why it declines, or if xfer has published a wrong one. --cases runs those whose row or name has this text.
"""

import argparse
import dataclasses
import json
import pathlib
import sys
import tempfile
import time

from cases import CASES
from programs import PROGRAMS_BESIDE, missing
from unlucky_server import make_certificate


def cell(result):
    outcome = result.outcome
    if outcome == "nothing":
        outcome += ", goes on" if result.status is None else ", failed"
    return f"{outcome}, {result.seconds:.1f} s, {result.requests} req, {result.sent / 1e6:.1f} MB"


def findings(case, results):
    """What xfer does worse than another program, and wrong files that it publishes."""
    xfer = results[0]
    survivors = [result.program for result in results[1:] if result.survives and case.can_succeed]
    if xfer.outcome == "wrong":
        yield f"{xfer.row} {xfer.case}: xfer published a wrong file"
    elif survivors and not xfer.survives and not case.declined:
        yield f"{xfer.row} {xfer.case}: {', '.join(survivors)} survived, xfer did not"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if missing():
        sys.exit(f"misfortunes: please install {', '.join(missing())}")

    begin, found, everything = time.monotonic(), [], []
    cases = [case for case in CASES if options.cases in f"{case.row} {case.name}"]
    if not options.json:
        names = [program.name for program in PROGRAMS_BESIDE]
        print(f"| | case | {' | '.join(names)} |\n|{' --- |' * (len(names) + 2)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="misfortunes-") as scratch:
        certificate = pathlib.Path(scratch) / "server.pem"
        make_certificate(certificate)
        for case in cases:
            results = [program(case, certificate).run() for program in PROGRAMS_BESIDE]
            everything += results
            found += findings(case, results)
            if not options.json:
                print(f"| {case.row} | {case.name} | {' | '.join(map(cell, results))} |", flush=True)
    if options.json:
        print(json.dumps([dataclasses.asdict(result) for result in everything], indent=1))
    for result in everything:
        if result.kept:
            print(f"{result.row} {result.case}: kept {result.kept}\n{result.explanation}", file=sys.stderr)
    for case in cases:
        if case.declined:
            print(f"DECLINED {case.row} {case.name}: {case.declined}", file=sys.stderr)
    for finding in found:
        print("PROBLEM", finding, file=sys.stderr)
    print(f"{len(cases)} cases, {time.monotonic() - begin:.0f} s, {len(found)} problems", file=sys.stderr)
    return 1 if found else 0


sys.exit(main())
