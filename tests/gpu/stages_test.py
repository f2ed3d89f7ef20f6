"""The parts of `run` that decide what passed, without a GPU."""

import json
import os
import tempfile
import time
import unittest

import programs
import report
import stages


def runner_of(folder, seconds):
    ours = programs.Programs(folder, "2.0", use_own_glibc=False)
    return stages.Runner(ours, folder, stages.Budget(seconds), gpu_count=1)


class StagesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_command_ends_with_its_children_at_its_limit(self):
        runner = runner_of(self.folder, 60)
        start = time.monotonic()
        code, output = runner.run(["sh", "-c", "echo begun; sleep 50 & sleep 50"], limit=1)
        self.assertIsNone(code)
        self.assertEqual(output, "begun\n")
        self.assertLess(time.monotonic() - start, 20)

    def test_stage_that_does_not_fit_is_skipped(self):
        runner = runner_of(self.folder, 5)
        result, _ = stages.run_stage(lambda _: stages.passed("done"), 10, runner)
        self.assertEqual(result.state, "skipped")
        self.assertIn(stages.TIME_OVER, result.detail)
        result, _ = stages.run_stage(lambda _: stages.passed("done"), 1, runner)
        self.assertEqual(result.state, "passed")

    def test_stage_that_fails_only_as_the_budget_ends_is_skipped(self):
        runner = runner_of(self.folder, 0)
        result, _ = stages.run_stage(lambda _: stages.failed("cut"), -10, runner)
        self.assertEqual(result.state, "skipped")

    def test_error_of_a_stage_is_its_failure(self):
        def stage(_):
            raise OSError("no such program")

        result, _ = stages.run_stage(stage, 0, runner_of(self.folder, 5))
        self.assertEqual(result.state, "failed")
        self.assertIn("no such program", result.detail)

    def conformance(self, tests, exit_code, suite="/DeviceTest"):
        """What conformance_of makes of a suite with these tests."""
        os.makedirs(f"{self.folder}/bin")
        suite = {"name": suite, "testsuite": [{"status": "RUN"} | test for test in tests]}
        with open(f"{self.folder}/written.json", "w", encoding="utf-8") as file:
            json.dump({"testsuites": [suite]}, file)
        path = f"{self.folder}/bin/device_conformance_test"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ncp {self.folder}/written.json {self.folder}/conformance.json\n"
                       f"exit {exit_code}\n")
        os.chmod(path, 0o755)
        return stages.conformance_of(runner_of(self.folder, 60), "*", 30)

    def test_conformance_passes_with_a_case_that_passed(self):
        result = self.conformance([{"name": "a", "result": "COMPLETED"},
                                   {"name": "b", "result": "SKIPPED"}], 0)
        self.assertEqual(result.state, "passed")
        self.assertIn("1 of 2 cases passed, 1 skipped", result.detail)

    def test_conformance_fails_if_nothing_ran(self):
        result = self.conformance([{"name": "a", "result": "SKIPPED"}], 0)
        self.assertEqual(result.state, "failed")

    def test_conformance_fails_without_a_gpu_under_test(self):
        result = self.conformance([{"name": "IsUnderTest", "result": "SKIPPED"}], 0, "GpuTest")
        self.assertEqual(result.state, "failed")
        self.assertIn("no GPU is under test", result.detail)

    def test_conformance_fails_if_no_case_ran_on_the_gpu(self):
        result = self.conformance([{"name": "IsUnderTest", "result": "COMPLETED"}], 0, "GpuTest")
        self.assertEqual(result.state, "failed")

    def test_conformance_fails_with_a_failure(self):
        result = self.conformance([{"name": "a", "result": "COMPLETED"},
                                   {"name": "b", "result": "COMPLETED", "failures": [{}]}], 1)
        self.assertEqual(result.state, "failed")
        self.assertIn("DeviceTest.b", result.detail)

    def test_conformance_fails_with_its_program(self):
        result = self.conformance([{"name": "a", "result": "COMPLETED"}], 139)
        self.assertEqual(result.state, "failed")
        self.assertIn("exit code 139", result.detail)

    def test_report(self):
        results = [("first", stages.passed("well | done", [("step", "2", "1", "2.00")]), 1.4),
                   ("second", stages.failed("exit code 1\nwhy"), 2)]
        text = report.markdown("On a GPU", {"GPU 0": "some"}, results)
        self.assertIn("# On a GPU: 1 passed, 1 failed, 0 skipped", text)
        self.assertIn("| GPU 0 | some |", text)
        self.assertIn("| first | passed | 1 | well \\| done |", text)
        self.assertIn("| step | 2 | 1 | 2.00 |", text)
        self.assertIn("### second: failed\n\nexit code 1\n\n```\nwhy\n```", text)


if __name__ == "__main__":
    unittest.main()
