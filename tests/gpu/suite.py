"""Runs a program of GoogleTest as processes side by side, of which any may end early.

A fault of a GPU stays with its process: each later call fails, and a CHECK ends it.
That costs the case which it was in; another process runs the cases that are left.
"""

import concurrent.futures
import os
import re

from runner import TOO_LONG, explain, last_lines

MAX_PROCESSES = 8
# That one share of the cases may cost.
MAX_EARLY_ENDS = 20

OK, FAILED, SKIPPED = "OK", "FAILED", "SKIPPED"
MARK = re.compile(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] ([\w/.]+)")


class Outcome:
    """What became of cases."""

    def __init__(self, cases):
        self.cases = list(cases)
        # {case: OK, FAILED or SKIPPED}; without those that did not end.
        self.results = {}
        # {case: the lines that it printed}
        self.said = {}
        # Of processes: what no failed case explains.
        self.troubles = []

    def those(self, result):
        """The cases with a result; None: without."""
        return [case for case in self.cases if self.results.get(case) == result]

    def add(self, other):
        self.results |= other.results
        self.said |= other.said
        self.troubles += [trouble for trouble in other.troubles if trouble not in self.troubles]

    def read(self, output):
        """Takes what a process printed; returns the case that it ended in, or None."""
        current = None
        for line in output.splitlines():
            mark = MARK.search(line)
            if mark is None or mark.group(2) not in self.cases:
                if current is not None:
                    self.said[current].append(line)
            elif mark.group(1) == "RUN":
                current = mark.group(2)
                self.said[current] = []
            # The failed ones are listed again at the end.
            elif mark.group(2) == current:
                self.results[current] = mark.group(1)
                current = None
        return current


def cases_of(runner, program, gtest_filter):
    """Their names, by GoogleTest's own list."""
    code, output = runner.ours(program, "--gtest_list_tests", f"--gtest_filter={gtest_filter}")
    if code != 0:
        raise RuntimeError(f"{program}: {explain(code, output)}")
    cases, suite = [], ""
    for line in output.splitlines():
        match = re.fullmatch(r"(  )?([\w/]+)(\.)?(?:  #.*)?", line)
        if match and match.group(3):
            suite = match.group(2)
        elif match and match.group(1):
            cases.append(f"{suite}.{match.group(2)}")
    return cases


def run_process(runner, program, outcome, before):
    """Runs the cases without a result. Whether it is worth while to go on."""
    left = outcome.those(None)
    failed_before = len(outcome.those(FAILED))
    code, output = runner.ours(program, f"--gtest_filter={':'.join(left)}", before=before)
    running = outcome.read(output)
    if code is None:
        where = f", in {running}" if running else ""
        outcome.troubles.append(f"{TOO_LONG}{where}\n{last_lines(output)}")
        return False
    if running is not None:
        outcome.results[running] = FAILED
        outcome.said[running].insert(0, f"ended its process, exit code {code}")
    elif code != (1 if len(outcome.those(FAILED)) > failed_before else 0):
        outcome.troubles.append(explain(code, output))
    return 0 < len(outcome.those(None)) < len(left)


def run_share(runner, program, cases, before):
    """The Outcome of cases that a process runs after each other."""
    outcome = Outcome(cases)
    for _ in range(1 + MAX_EARLY_ENDS):
        if not run_process(runner, program, outcome, before):
            break
    return outcome


def run(runner, program, gtest_filter, before=()):
    """The Outcome of all cases that fit; `before` is what runs the program."""
    outcome = Outcome(cases_of(runner, program, gtest_filter))
    count = min(MAX_PROCESSES, os.cpu_count(), len(outcome.cases))
    shares = [outcome.cases[i::count] for i in range(count)]
    with concurrent.futures.ThreadPoolExecutor(MAX_PROCESSES) as threads:
        for part in threads.map(lambda cases: run_share(runner, program, cases, before), shares):
            outcome.add(part)
    return outcome
