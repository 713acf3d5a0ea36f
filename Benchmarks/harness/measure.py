"""Figures of a row, and what is asked of them."""

import dataclasses
import statistics


class Failed(Exception):
    """A row cannot be measured; the others go on."""


@dataclasses.dataclass
class Figure:
    """All values one tool had for one thing."""

    what: str
    tool: str
    unit: str
    values: list

    @property
    def median(self):
        return statistics.median(self.values)


@dataclasses.dataclass
class Verdict:
    asked: str
    seen: str
    is_met: bool


class Outcome:
    """One row: its figures in the order in which they came, and how they compare with what is asked."""

    def __init__(self, title):
        self.title = title
        self.figures = []
        self.verdicts = []
        self.notes = []

    def add(self, what, tool, unit, value):
        figure = self.find(what, tool)
        if figure is None:
            figure = Figure(what, tool, unit, [])
            self.figures.append(figure)
        figure.values.append(value)

    def in_order(self):
        """What was measured first comes first; within one measurement xfer's value, then the others by name."""
        first = {}
        for figure in self.figures:
            first.setdefault(figure.what, len(first))
        return sorted(self.figures, key=lambda each: (first[each.what], each.tool != "xfer", each.tool))

    def find(self, what, tool):
        return next((each for each in self.figures if each.what == what and each.tool == tool), None)

    def median(self, what, tool="xfer"):
        figure = self.find(what, tool)
        if figure is None:
            raise Failed(f"no figure for {what} of {tool}")
        return figure.median

    def ask_ratio(self, what, other, *, at_most=None, at_least=None, tool="xfer"):
        """Asks how many times the other's median this tool's is. An absent tool is no verdict."""
        if self.find(what, other) is None:
            return
        ratio = self.median(what, tool) / self.median(what, other)
        self._judge(f"{what} {{}} × {other}", ratio, "{:.2f}", at_most, at_least)

    def ask(self, what, *, at_most=None, at_least=None, tool="xfer", worst=False):
        """Asks for the median, or the worst value there was."""
        figure = self.find(what, tool)
        if figure is None:
            raise Failed(f"no figure for {what} of {tool}")
        bound = max if at_most is not None else min
        value = bound(figure.values) if worst else figure.median
        form = "{:,.4g}" if abs(value) < 1000 else "{:,.0f}"
        self._judge(f"{what} {{}} {figure.unit}", value, form, at_most, at_least)

    def _judge(self, words, value, form, at_most, at_least):
        limit, sign = (at_most, "≤") if at_most is not None else (at_least, "≥")
        is_met = value <= limit if at_most is not None else value >= limit
        self.verdicts.append(Verdict(words.format(f"{sign} {limit:,}"), form.format(value), is_met))


def alternate(tools, rounds, run, warm_up=True):
    """Runs every tool once per round, in another order each time, so that no tool always follows the same one.

    `run(tool, number)`: the round's number, 0 for the one that does not count.
    """
    for number in range(0 if warm_up else 1, rounds + 1):
        shift = number % len(tools)
        for tool in tools[shift:] + tools[:shift]:
            run(tool, number)
