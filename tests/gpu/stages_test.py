"""What decides whether the device works, without a GPU."""

import json
import os
import tempfile
import unittest
import unittest.mock

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

    def conformance(self, tests, exit_code, suite="/DeviceTest"):
        """What conformance_of makes of a suite with these tests."""
        suite = {"name": suite, "testsuite": [{"status": "RUN"} | test for test in tests]}
        with open(f"{self.folder}/written.json", "w", encoding="utf-8") as file:
            json.dump({"testsuites": [suite]}, file)
        self.write_program(
            "device_conformance_test",
            f"cp {self.folder}/written.json {self.folder}/conformance.json; exit {exit_code}")
        return stages.conformance_of(runner_of(self.folder), "*")

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
