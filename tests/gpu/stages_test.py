"""What decides whether the device works, without a GPU."""

import json
import os
import tempfile
import unittest
import unittest.mock

import fake_suite
import programs
import stages
from runner import Budget, Runner


def runner_of(folder, gpu_count=1):
    ours = programs.Programs(folder, "2.0", use_own_glibc=False)
    return Runner(ours, folder, Budget(60), gpu_count)


class StagesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(f"{self.folder}/bin")

    def write_program(self, name, script):
        path = f"{self.folder}/bin/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(path, 0o755)

    def conformance(self, cases, **more):
        """What the stage makes of a suite with these cases."""
        fake_suite.write(f"{self.folder}/bin/device_conformance_test", cases, **more)
        return stages.conformance(runner_of(self.folder))

    def test_conformance_passes_with_a_case_that_passed(self):
        result = self.conformance({stages.IS_UNDER_TEST: "OK", "A.a": "OK", "A.b": "SKIPPED"})
        self.assertEqual(result.state, "passed")
        self.assertEqual(result.detail, "1 of 2 cases passed, 1 skipped\n"
                         "skipped, 1 times: for want of it")

    def test_conformance_fails_if_nothing_ran(self):
        self.assertEqual(self.conformance({"A.a": "SKIPPED"}).state, "failed")
        self.assertEqual(self.conformance({}).state, "failed")

    def test_conformance_fails_without_a_gpu_under_test(self):
        result = self.conformance({stages.IS_UNDER_TEST: "SKIPPED", "A.a": "OK"})
        self.assertEqual(result.state, "failed")
        self.assertIn("no GPU is under test", result.detail)
        self.assertIn("for want of it", result.detail)

    def test_conformance_fails_if_no_case_ran_on_the_gpu(self):
        self.assertEqual(self.conformance({stages.IS_UNDER_TEST: "OK"}).state, "failed")

    def test_conformance_names_what_failed_and_what_it_said(self):
        result = self.conformance({"A.a": "OK", "A.b": "FAILED", "A.c": "die"})
        self.assertEqual(result.state, "failed")
        self.assertIn("1 of 3 cases passed, 0 skipped\nA.b\n    a_test.cc:7: Failure\n"
                      "    expected more\nA.c\n    ended its process", result.detail)

    def test_conformance_says_much_of_few_failures(self):
        with unittest.mock.patch.object(stages, "CASES_IN_FULL", 1):
            result = self.conformance({"A.a": "FAILED", "A.b": "FAILED"})
        self.assertIn("A.a\n    a_test.cc:7: Failure\n    expected more\nA.b", result.detail)
        self.assertNotIn("A.b\n  ", result.detail)

    def test_conformance_fails_with_its_program(self):
        result = self.conformance({"A.a": "OK"}, code=139)
        self.assertEqual(result.state, "failed")
        self.assertIn("exit code 139", result.detail)

    def test_conformance_fails_with_cases_that_did_not_end(self):
        fake_suite.write(f"{self.folder}/bin/device_conformance_test",
                         {"A.a": "OK", "A.b": "hang"})
        result = stages.conformance(runner_of(self.folder).within(3))
        self.assertEqual(result.state, "failed")
        self.assertIn("1 of 2 cases passed, 0 skipped, 1 did not end", result.detail)

    def sanitizer(self, cases, seconds=60, **more):
        """What the stage makes of them under a tool that runs the program alone."""
        fake_suite.write(f"{self.folder}/bin/device_conformance_test", cases, **more)
        self.write_program("compute-sanitizer", 'while [ "${1#/}" = "$1" ]; do shift; done; exec "$@"')
        with unittest.mock.patch.dict(os.environ, {
                "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}):
            return stages.sanitizer(runner_of(self.folder).within(seconds))

    def test_sanitizer_passes_with_the_cases(self):
        self.assertEqual(self.sanitizer({"A.a": "OK"}).state, "passed")

    def test_sanitizer_fails_with_errors_that_it_found(self):
        self.assertEqual(self.sanitizer({"A.a": "OK"}, code=9).state, "failed")
        self.assertEqual(self.sanitizer({"A.a": "FAILED", "A.b": "hang"}, seconds=3).state, "failed")

    def test_sanitizer_that_is_too_slow_is_skipped(self):
        result = self.sanitizer({"A.a": "OK", "A.b": "hang"}, seconds=3)
        self.assertEqual(result.state, "skipped")
        self.assertIn("1 of 2 cases passed", result.detail)

    def training(self, strategy, accuracy, gpu_count=1, says=""):
        """What becomes of a training that ends with this accuracy, and says so much."""
        result = json.dumps({"evaluation": {"accuracy": accuracy}})
        self.write_program("coordinator", f"echo '{says}'; mkdir -p \"$4\"; "
                           f"echo '{result}' > \"$4\"/result.json")
        self.write_program("worker", f"echo '{says}'; [ $# = 0 ] && exec sleep 50; "
                           f"echo \"$CUDA_VISIBLE_DEVICES $TF_CONFIG\" > {self.folder}/first; "
                           f"echo '{result}' > \"$4\"/result.json")
        return stages.training(strategy)(runner_of(self.folder, gpu_count))

    def test_training_passes_with_its_accuracy(self):
        self.assertEqual(self.training("parameter_server", 0.9).state, "passed")
        result = self.training("mirrored", 0.5)
        self.assertEqual(result.state, "failed")
        self.assertIn("accuracy 0.5000; expected at least 0.84", result.detail)

    def test_two_gpus_must_sum_up_by_nccl(self):
        for strategy in ("mirrored", "multi_worker_mirrored"):
            with self.subTest(strategy):
                result = self.training(strategy, 0.9, 2, "gradients are summed up by the host")
                self.assertEqual(result.state, "failed")
                result = self.training(strategy, 0.9, 2,
                                       f"gradients of 2 replicas {stages.SUMMED_BY_GPUS}")
                self.assertEqual(result.state, "passed")
                self.assertIn("NCCL", result.detail)

    def test_one_gpu_is_not_asked_for_nccl(self):
        self.assertEqual(self.training("mirrored", 0.9, 1).state, "passed")

    def test_two_workers_have_a_gpu_each(self):
        with unittest.mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": "7,5"}):
            self.training("multi_worker_mirrored", 0.9, 2, stages.SUMMED_BY_GPUS)
            self.assertEqual(stages.visible_gpu(1), "5")
        with open(f"{self.folder}/first", encoding="utf-8") as file:
            gpu, tf_config = file.read().split(" ", 1)
        self.assertEqual(gpu, "7")
        self.assertEqual(json.loads(tf_config)["task"], {"type": "worker", "index": 0})
        self.assertEqual(len(json.loads(tf_config)["cluster"]["worker"]), 2)


if __name__ == "__main__":
    unittest.main()
