"""The numbered files that these programs fetch: what they are called, what they contain, and whether they are there."""

import pathlib


def names(count):
    return [f"{number}.txt" for number in range(count)]


def content(name):
    """About a kilobyte that no other file has."""
    return f"{name}\n".encode() * 100


def report(directory, count):
    """Prints what is wrong in the directory, and the number of right files. The exit status."""
    wanted, found = set(names(count)), {path.name for path in pathlib.Path(directory).glob("[!.]*")}
    for name in sorted(found - wanted):
        print(f"not asked for: {name}")
    wrong = [name for name in wanted if name not in found or pathlib.Path(directory, name).read_bytes() != content(name)]
    for name in sorted(wrong):
        print(f"missing or wrong: {name}")
    print(f"{count - len(wrong)} files are right")
    return 0 if found == wanted and not wrong else 1
