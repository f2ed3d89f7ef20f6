"""Stages and their commands keep to the time they have."""

import tempfile
import time
import unittest

import programs
import results
import runner
from runner import Stage


class RunnerTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def runner_of(self, seconds):
        ours = programs.Programs(self.folder, "2.0", use_own_glibc=False)
        return runner.Runner(ours, self.folder, runner.Budget(seconds), gpu_count=1)

    def test_command_ends_with_its_children_at_its_limit(self):
        start = time.monotonic()
        code, output = self.runner_of(60).within(1).run(
            ["sh", "-c", "echo begun; sleep 50 & sleep 50"])
        self.assertIsNone(code)
        self.assertEqual(output, "begun\n")
        self.assertLess(time.monotonic() - start, 20)

    def test_part_of_a_budget_is_no_longer_than_it(self):
        self.assertLess(self.runner_of(5).within(60).budget.left(), 5.1)

    def test_stage_has_its_limit(self):
        stage = Stage("a", 0, 7, lambda part: results.passed(f"{part.budget.left():.0f}"))
        self.assertEqual(runner.run_stage(stage, self.runner_of(60))[0].detail, "7")

    def test_stage_that_does_not_fit_is_skipped(self):
        result, _ = runner.run_stage(Stage("a", 10, 60, lambda _: results.passed("done")),
                                     self.runner_of(5))
        self.assertEqual(result.state, "skipped")
        self.assertIn(runner.TIME_OVER, result.detail)
        result, _ = runner.run_stage(Stage("a", 1, 60, lambda _: results.passed("done")),
                                     self.runner_of(5))
        self.assertEqual(result.state, "passed")

    def test_stage_that_fails_only_as_the_budget_ends_is_skipped(self):
        result, _ = runner.run_stage(Stage("a", -10, 60, lambda _: results.failed("cut")),
                                     self.runner_of(0))
        self.assertEqual(result.state, "skipped")

    def test_error_of_a_stage_is_its_failure(self):
        for kind in (OSError, TypeError, IndexError, AssertionError):
            def run(_, kind=kind):
                raise kind("no such program")

            result, _ = runner.run_stage(Stage("a", 0, 60, run), self.runner_of(5))
            self.assertEqual(result.state, "failed")
            self.assertIn(f"{kind.__name__}: no such program\n", result.detail)
            self.assertIn("in run", result.detail)


if __name__ == "__main__":
    unittest.main()
