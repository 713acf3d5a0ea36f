"""compare.py RESULTS DOCUMENT: fails unless the tests that failed are those that the document's table names."""
from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

BEGIN, END = "<!-- aria2p: begin -->", "<!-- aria2p: end -->"


def failures(results: str) -> dict[str, str]:
    found = {}
    for case in ElementTree.parse(results).iter("testcase"):
        for fault in [*case.findall("failure"), *case.findall("error")]:
            place = case.get("classname", "").removeprefix("tests.")
            found[f"{place}.{case.get('name')}"] = (fault.get("message") or "").splitlines()[0][:160]
    return found


def documented(document: str) -> set[str]:
    table = Path(document).read_text().partition(BEGIN)[2].partition(END)[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| `")]
    return {name.strip().strip("`") for row in rows for name in row[1].split(",")}


def main() -> int:
    failed, expected = failures(sys.argv[1]), documented(sys.argv[2])
    for name in sorted(failed.keys() - expected):
        print(f"failed, and is not in {sys.argv[2]}: {name}: {failed[name]}")
    for name in sorted(expected - failed.keys()):
        print(f"is in {sys.argv[2]}, and passed: {name}")
    print(f"aria2p: {len(failed)} tests failed, {len(expected)} are known to")
    return 0 if failed.keys() == expected else 1


sys.exit(main())
