"""Runs stages, and their commands, within the time they have."""

import collections
import copy
import os
import subprocess
import time
import traceback

import results

TIME_OVER = "no time left"
TOO_LONG = "took too long"

# `run` makes a Result of a Runner. It is not begun with less than `needed` seconds
# left, and its commands end `limit` seconds after its start. `compiles`: what
# PyTorch may compile ahead of it.
Stage = collections.namedtuple("Stage", "name needed limit run goals compiles",
                               defaults=((), ()))


class Budget:
    """Seconds that there are."""

    def __init__(self, seconds):
        self._end = time.monotonic() + seconds

    def left(self):
        return self._end - time.monotonic()


class Runner:
    """Runs commands within the budget, in a folder of their own."""

    def __init__(self, programs, folder, budget, gpu_count):
        """Without GPUs the CPU stands in."""
        self.programs = programs
        self.folder = folder
        self.budget = budget
        self.gpu_count = gpu_count

    @property
    def device(self):
        return "cuda" if self.gpu_count > 0 else "cpu"

    def within(self, seconds):
        """The same with a part of the budget."""
        part = copy.copy(self)
        part.budget = Budget(min(seconds, self.budget.left()))
        return part

    def ours(self, name, *arguments, before=(), **environment):
        """Our program; `before` is what runs it. See run."""
        return self.run([*before, self.programs.path(name), *arguments],
                        self.programs.environment() | environment)

    def run(self, command, environment=None):
        """(exit code, output); the code is None if the time was over."""
        process = subprocess.Popen(command, cwd=self.programs.root, env=environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   errors="replace", start_new_session=True)
        try:
            output, _ = process.communicate(timeout=max(1, self.budget.left()))
            return process.returncode, output
        except subprocess.TimeoutExpired:
            # Its children too, which are of its session.
            os.killpg(process.pid, 9)
            return None, process.communicate()[0]


def last_lines(output, count=15):
    return "\n".join(output.strip().splitlines()[-count:])


def explain(code, output):
    why = TOO_LONG if code is None else f"exit code {code}"
    return f"{why}\n{last_lines(output)}"


def run_stage(stage, runner):
    """(result, seconds)."""
    start = time.monotonic()
    if runner.budget.left() < stage.needed:
        return results.skipped(f"{TIME_OVER}: {max(0, runner.budget.left()):.0f} s of the budget"), 0
    try:
        result = stage.run(runner.within(stage.limit))
    except Exception as error:  # Whatever it is, the other stages are to run.
        result = results.failed(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
    if result.state == "failed" and runner.budget.left() <= 0:
        result = results.skipped(f"{TIME_OVER}: cut short by the budget\n{result.detail}")
    return result, time.monotonic() - start
