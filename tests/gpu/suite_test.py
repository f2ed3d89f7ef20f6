"""A suite of GoogleTest is run to its end, whatever becomes of a process."""

import os
import tempfile
import unittest
import unittest.mock

import fake_suite
import programs
import suite
from runner import TOO_LONG, Budget, Runner

PROGRAM = "some_test"


class SuiteTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(f"{self.folder}/bin")

    def run_suite(self, cases, processes=2, seconds=60, **more):
        """The Outcome of a program with such cases."""
        fake_suite.write(f"{self.folder}/bin/{PROGRAM}", cases, **more)
        ours = programs.Programs(self.folder, "2.0", use_own_glibc=False)
        with unittest.mock.patch.object(suite, "MAX_PROCESSES", processes):
            return suite.run(Runner(ours, self.folder, Budget(seconds), 1), PROGRAM, "*")

    def test_all_cases_have_their_results(self):
        cases = {"A.a": "OK", "A/B.b/cuda_1": "FAILED", "A.c": "SKIPPED", "/C.d": "OK"}
        for processes in (1, 3, 8):
            outcome = self.run_suite(cases, processes)
            self.assertEqual(outcome.results, cases)
            self.assertEqual(outcome.said["A/B.b/cuda_1"], ["a_test.cc:7: Failure", "expected more"])
            self.assertEqual(outcome.troubles, [])

    def test_cases_run_side_by_side(self):
        with unittest.mock.patch.object(os, "cpu_count", lambda: 4):
            outcome = self.run_suite({"A.a": "OK", "A.b": "hang", "A.c": "OK", "A.d": "OK"},
                                     processes=4, seconds=3)
        self.assertEqual(outcome.those(suite.OK), ["A.a", "A.c", "A.d"])

    def test_case_that_ends_its_process_costs_no_other(self):
        outcome = self.run_suite({"A.a": "OK", "A.b": "die", "A.c": "OK", "A.d": "die", "A.e": "die"},
                                 processes=1)
        self.assertEqual(outcome.those(suite.OK), ["A.a", "A.c"])
        self.assertEqual(outcome.those(suite.FAILED), ["A.b", "A.d", "A.e"])
        self.assertEqual(outcome.said["A.d"], ["ended its process, exit code -6",
                                               "Check failed: an illegal address"])
        self.assertEqual(outcome.troubles, [])

    def test_no_more_processes_than_such_cases_are_worth(self):
        with unittest.mock.patch.object(suite, "MAX_EARLY_ENDS", 2):
            outcome = self.run_suite({f"A.a{i}": "die" for i in range(5)}, processes=1)
        self.assertEqual(outcome.those(suite.FAILED), ["A.a0", "A.a1", "A.a2"])
        self.assertEqual(outcome.those(None), ["A.a3", "A.a4"])

    def test_what_was_seen_counts_where_the_time_is_over(self):
        outcome = self.run_suite({"A.a": "OK", "A.b": "hang", "A.c": "OK"}, processes=1, seconds=3)
        self.assertEqual(outcome.results, {"A.a": "OK"})
        self.assertEqual(outcome.those(None), ["A.b", "A.c"])
        self.assertIn(f"{TOO_LONG}, in A.b", outcome.troubles[0])

    def test_bad_end_without_a_failed_case_is_a_trouble(self):
        outcome = self.run_suite({"A.a": "OK", "A.b": "OK"}, code=9)
        self.assertEqual(outcome.those(suite.OK), ["A.a", "A.b"])
        self.assertIn("exit code 9", outcome.troubles[0])
        outcome = self.run_suite({"A.a": "FAILED"}, code=9)
        self.assertIn("exit code 9", outcome.troubles[0])

    def test_program_that_does_not_start_says_so(self):
        with self.assertRaisesRegex(RuntimeError, "exit code 127"):
            self.run_suite({"A.a": "OK"}, list_code=127)

    def test_no_case(self):
        self.assertEqual(self.run_suite({}).cases, [])


if __name__ == "__main__":
    unittest.main()
