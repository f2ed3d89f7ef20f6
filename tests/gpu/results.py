"""What a stage of `run` has shown: whether it passed, and figures beside their goals."""

import collections

# The ratio of ours to `beside` must be `least` or more.
Goal = collections.namedtuple("Goal", "what beside least")


class Figure:
    """What was measured for a goal: the quartiles of a ratio, with the median between."""

    def __init__(self, low, median, high, ours, theirs, note=""):
        """`ours` and `theirs` are texts with units; `note` restricts what it shows."""
        self.low = low
        self.median = median
        self.high = high
        self.ours = ours
        self.theirs = theirs
        self.note = note

    def ratio(self):
        return f"{self.median:.3g} ({self.low:.3g}–{self.high:.3g})"


def verdict(goal, figure):
    """The median counts."""
    reached = "reached" if figure.median >= goal.least else "missed"
    return f"{reached}; {figure.note}" if figure.note else reached


class Result:
    """Of a stage: `state` is passed, failed or skipped, `detail` says more."""

    def __init__(self, state, detail, figures=None, unmeasured=None):
        self.state = state
        self.detail = detail
        # {Goal: Figure}, and {Goal: why there is none}; of the others `detail` says it.
        self.figures = figures or {}
        self.unmeasured = unmeasured or {}


def passed(detail, figures=None, unmeasured=None):
    return Result("passed", detail, figures, unmeasured)


def failed(detail):
    return Result("failed", detail)


def skipped(detail):
    return Result("skipped", detail)
