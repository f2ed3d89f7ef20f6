"""Expected values in a JSON file: written, or made again and compared with it.

Numbers of other processors differ in their last digits, since sums are taken in
another order, so values are compared with a tolerance, and everything else must be
equal. Texts, such as configs, are compared as they are.
"""

import argparse
import difflib
import json
import math
import pathlib
import sys

# Of float32 sums of some hundred terms.
RELATIVE = 1e-4
ABSOLUTE = 1e-5


def differences(expected, made, where=""):
    """A line for each place in which two JSON values differ."""
    if isinstance(expected, dict) and isinstance(made, dict):
        for key in sorted(expected.keys() | made.keys()):
            path = f"{where}.{key}"
            if key not in made:
                yield f"{path}: is in the file only"
            elif key not in expected:
                yield f"{path}: is not in the file"
            else:
                yield from differences(expected[key], made[key], path)
    elif isinstance(expected, list) and isinstance(made, list):
        if len(expected) != len(made):
            yield f"{where}: {len(expected)} entries in the file, {len(made)} made"
            return
        for i, pair in enumerate(zip(expected, made)):
            name = pair[0].get("name", i) if isinstance(pair[0], dict) else i
            yield from differences(*pair, f"{where}[{name}]")
    elif is_number(expected) and is_number(made):
        same = expected == made or (math.isnan(expected) and math.isnan(made))
        if not same and not math.isclose(expected, made, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            yield f"{where}: {expected} in the file, {made} made"
    elif expected != made:
        yield f"{where}: {expected!r} in the file, {made!r} made"


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def value_differences(expected, made):
    """Of two JSON texts: a line for each place in which their values differ."""
    return differences(json.loads(expected), json.loads(made))


def line_differences(expected, made):
    """Of two texts of which each character counts: a line for each that is in one only."""
    for line in difflib.unified_diff(expected.splitlines(), made.splitlines(), lineterm="", n=0):
        if not line.startswith(("---", "+++", "@@")):
            yield f": {line}"


def main(name, make_text, find_differences=value_differences):
    """Runs a script of expected values, whose file `name` lies beside it.

    `find_differences` takes the file's text and the one made, and yields lines.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true",
                        help=f"compare with {name} instead of writing it")
    path = pathlib.Path(__file__).with_name(name)
    if not parser.parse_args().check:
        path.write_text(make_text())
        return
    found = list(find_differences(path.read_text(), make_text()))
    for line in found[:20]:
        print(f"{name}{line}")
    if found:
        sys.exit(f"{name}: {len(found)} differences; run the script without --check, and look why")
    print(f"{name}: as Keras gives them")
