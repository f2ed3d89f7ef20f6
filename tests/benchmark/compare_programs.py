"""What changed between two builds' programs of the CPU device: records of `program_record`.

    compare_programs.py OLD.jsonl NEW.jsonl [OLD.jsonl NEW.jsonl …]

Both builds run on one machine, in turn: each pair of records is one turn. Arena
and time to compile are ratios of the medians over the turns; outputs are as
near as in the worst turn. The programs of jobs have goals for the ratios, and
all programs one for the outputs. Exits with 1 where a goal is missed or a
program is gone.
"""

import argparse
import collections
import json
import statistics
import sys

GOALS = {"arena_bytes": 1.02, "compile_ms": 1.1}
OUTPUTS_GOAL = 1e-4
NEARNESS = [1e-6, OUTPUTS_GOAL]

# A program before and after. A ratio is new / old; `distance` is relative, 0
# where all bits are equal.
Comparison = collections.namedtuple("Comparison", "key ratios distance")


def read_record(lines):
    """What a record says of the processor, and its programs by (name, mode, threads)."""
    processor, *programs = map(json.loads, lines)
    return processor, {
        (program["name"], "train" if program["is_training"] else "evaluate", program["threads"]):
            program
        for program in programs}


def distance_of(old, new, scale):
    """Between two numbers, relative to `scale`. A number that is not finite is None."""
    if old == new:
        return 0
    if old is None or new is None or not scale:
        return float("inf")
    return abs(new - old) / abs(scale)


def outputs_distance(old, new):
    """The largest of the loss, the metrics and each group's sums. Bits decide what is equal."""
    if old["counts"] != new["counts"] or len(old["sums"]) != len(new["sums"]):
        return float("inf")
    if old["bits"] == new["bits"]:
        return 0
    distances = [distance_of(a, b, a) for a, b in zip(old["totals"], new["totals"])]
    for (old_sum, old_magnitudes), (new_sum, new_magnitudes) in zip(old["sums"], new["sums"]):
        # The values may cancel each other out; their magnitudes do not.
        distances += [distance_of(old_sum, new_sum, old_magnitudes),
                      distance_of(old_magnitudes, new_magnitudes, old_magnitudes)]
    return max([sys.float_info.min, *distances])


def ratio_of(olds, news):
    old, new = statistics.median(olds), statistics.median(news)
    return new / old if old else float("inf") if new else 1.0


def compare(key, turns):
    """`turns` are pairs (old, new) of the program's records."""
    return Comparison(
        key,
        {field: ratio_of([old[field] for old, _ in turns], [new[field] for _, new in turns])
         for field in GOALS},
        max(outputs_distance(old, new) for old, new in turns))


def misses_a_goal(comparison):
    is_of_job = comparison.key[0].startswith("job/")
    return comparison.distance > OUTPUTS_GOAL or (is_of_job and any(
        comparison.ratios[field] > goal for field, goal in GOALS.items()))


def describe_distance(distance):
    if distance == 0:
        return "equal bits"
    for limit in NEARNESS:
        if distance <= limit:
            return f"within {limit:g}"
    return f"{distance:.2g} apart"


def table(comparisons):
    lines = ["| program | mode | threads | arena, new / old | time to compile, new / old | outputs |",
             "|---|---|---|---|---|---|"]
    for each in comparisons:
        cells = [*map(str, each.key), *(f"{ratio:.3f}" for ratio in each.ratios.values()),
                 describe_distance(each.distance) + (" – goal missed" if misses_a_goal(each) else "")]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def summary(comparisons):
    """How many programs of the conformance suite's models are as near as what."""
    counts = collections.Counter(
        describe_distance(each.distance) if each.distance <= OUTPUTS_GOAL else "further apart"
        for each in comparisons)
    kinds = ", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items()))
    arena = [each.ratios["arena_bytes"] for each in comparisons]
    return (f"{len(comparisons)} programs of cases: {kinds}; arena, new / old: "
            f"median {statistics.median(arena):.3f}, largest {max(arena):.3f}")


def report(records):
    """The lines to print, and whether all goals are met. `records` are pairs of read ones."""
    processors = [processor for pair in records for processor, _ in pair]
    lines = []
    if any(processor != processors[0] for processor in processors):
        lines = ["The processors differ, and so do times and bits, whatever the builds are.", ""]
    turns = [(old, new) for (_, old), (_, new) in records]
    keys = [key for key in turns[0][0] if all(key in new for _, new in turns)]
    gone = [key for key in turns[0][0] if key not in keys]
    compared = [compare(key, [(old[key], new[key]) for old, new in turns]) for key in keys]
    cases = [each for each in compared if each.key[0].startswith("case/")]
    shown = [each for each in compared if each not in cases or misses_a_goal(each)]
    lines += table(shown)
    if cases:
        lines += ["", summary(cases)]
    lines += [f"gone: {' '.join(map(str, key))}" for key in gone]
    return lines, not gone and not any(map(misses_a_goal, compared))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", nargs="+", metavar="OLD.jsonl NEW.jsonl")
    paths = parser.parse_args().records
    if len(paths) % 2 != 0:
        parser.error("expected pairs of an old and a new record")
    read = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            read.append(read_record(file))
    lines, met = report(list(zip(read[::2], read[1::2])))
    print("\n".join(lines))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
