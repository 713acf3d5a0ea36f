#!/usr/bin/python3
"""Deliberate defects: each one is found by the seeded model of publishing.

    defects.py [--seeds N] [NAME ...]
    defects.py --check

A defect is a patch in `defects` to a pure part that decides how files are published. The parts are compiled with the
model of Tests/XferCoreTests/Publishing alone, as one module: SwiftPM would compile their whole targets. Without a defect
no seed shows a problem; with each of them one of the N seeds (10,000) has to. Exit status 1 when one of these does not
hold.

--check only tests that each patch applies. If it does not, the code has changed: make the same mistake there.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFECTS = ROOT / "Tests" / "Campaigns" / "defects"
FEWEST = 15
#: The parts that decide, the model, and what both need.
SOURCES = [
    "Sources/XferCore/Publishing/PublishRecovery.swift",
    "Sources/XferCore/Publishing/PublishRound.swift",
    "Sources/XferModel/Tasks/ConflictPolicy.swift",
    "Sources/XferTestSupport/Source/SplitMix64.swift",
    "Tests/XferCoreTests/Publishing/PublishDisk.swift",
    "Tests/XferCoreTests/Publishing/PublishWorld+Problems.swift",
    "Tests/XferCoreTests/Publishing/PublishWorld.swift",
]
MAIN = """
for seed in 0..<SEEDS {
    var world = PublishWorld(seed: UInt64(seed))
    world.run()
    guard !world.problems.isEmpty else { continue }
    print("seed \\(seed): \\(world.problems.joined(separator: ", "))")
    break
}
"""


def problem(defect, seeds):
    """The first problem that a seed shows; None without one."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for source in SOURCES:
            (scratch / source).parent.mkdir(parents=True, exist_ok=True)
            (scratch / source).write_text((ROOT / source).read_text())
        if defect:
            subprocess.run(["git", "apply", str(defect)], cwd=scratch, check=True)
        for source in SOURCES:
            text = (scratch / source).read_text()
            (scratch / source).write_text(re.sub(r"^(?:public )?import Xfer\w+$", "", text, flags=re.MULTILINE))
        (scratch / "main.swift").write_text(MAIN.replace("SEEDS", str(seeds)))
        command = ["swiftc", "-O", "-swift-version", "6", "-suppress-warnings", "-o", "model", "main.swift", *SOURCES]
        subprocess.run(command, cwd=scratch, check=True)
        try:
            run = subprocess.run([scratch / "model"], capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return "a seed does not end"
        if run.returncode != 0:
            return f"the model ended with {run.returncode}"
        return run.stdout.strip() or None


def applies(defect):
    """True if the patch applies to the tree."""
    run = subprocess.run(["git", "apply", "--check", str(defect)], cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        print(f"{defect.relative_to(ROOT)} does not apply: make the same mistake in the code as it is now\n{run.stderr}")
    return run.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these defects")
    parser.add_argument("--seeds", type=int, default=10_000)
    parser.add_argument("--check", action="store_true", help="only test that the patches apply")
    arguments = parser.parse_args()
    defects = sorted(DEFECTS.glob("*.patch"))
    if len(defects) < FEWEST:
        print(f"{DEFECTS.relative_to(ROOT)} has {len(defects)} patches, expected {FEWEST} at least")
        return 1
    if arguments.names:
        unknown = set(arguments.names) - {defect.stem for defect in defects}
        if unknown:
            parser.error(f"no such defect: {', '.join(sorted(unknown))}")
        defects = [defect for defect in defects if defect.stem in arguments.names]
    if not all([applies(defect) for defect in defects]):
        return 1
    if arguments.check:
        return 0
    found = problem(None, arguments.seeds)
    print(f"no defect: {found or 'no problem'}", flush=True)
    missed = 1 if found else 0
    for defect in defects:
        found = problem(defect, arguments.seeds)
        print(f"{'found ' if found else 'MISSED'}  {defect.stem}: {found or f'no problem in {arguments.seeds} seeds'}", flush=True)
        missed += 0 if found else 1
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
