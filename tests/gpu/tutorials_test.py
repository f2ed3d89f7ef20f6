"""What decides whether the tutorials' jobs work, without a GPU."""

import json
import os
import tempfile
import unittest

import programs
import tutorials
from runner import Budget, Runner

TRACE = "logs/plugins/profile/1/worker.xplane.pb"


class TutorialsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(f"{self.folder}/bin")
        ours = programs.Programs(self.folder, "2.0", use_own_glibc=False)
        self.runner = Runner(ours, self.folder, Budget(60), gpu_count=1)

    def write_coordinator(self, accuracies, more="", code=0):
        """One that ends its subcommands with these accuracies; `more` is run in the output folder."""
        results = {verb: json.dumps({"evaluation": {"accuracy": accuracy}})
                   for verb, accuracy in accuracies.items()}
        cases = "".join(f"{verb}) result='{result}';;" for verb, result in results.items())
        path = f"{self.folder}/bin/coordinator"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "$@" >> {self.folder}/calls\ncase $1 in {cases} esac\n'
                       'while [ "$1" != --output ]; do shift; done\nmkdir -p "$2"; cd "$2"\n'
                       f'echo "$result" > result.json; {more}\nexit {code}\n')
        os.chmod(path, 0o755)

    def mnist(self, accuracy, again, last_step=39):
        more = f"mkdir -p {os.path.dirname(TRACE)}; for i in $(seq {last_step}); do echo step $i; done > {TRACE}"
        self.write_coordinator({"run": accuracy, "evaluate": again}, more)
        return tutorials.mnist(self.runner)

    def test_mnist_passes_with_its_checkpoint(self):
        self.assertEqual(self.mnist(0.88, 0.8801).state, "passed")
        with open(f"{self.folder}/calls", encoding="utf-8") as file:
            run, evaluate = file.read().splitlines()
        self.assertIn("--set device=cuda --set devices=1 ", run)
        self.assertIn(f"evaluate {self.folder}/mnist/checkpoint ", evaluate)

    def test_mnist_fails_below_its_accuracy(self):
        result = self.mnist(0.5, 0.5)
        self.assertEqual(result.state, "failed")
        self.assertIn("accuracy 0.5000; expected at least 0.85", result.detail)

    def test_mnist_fails_with_another_accuracy_of_the_checkpoint(self):
        self.assertEqual(self.mnist(0.88, 0.8802).state, "passed")
        result = self.mnist(0.88, 0.8803)
        self.assertEqual(result.state, "failed")
        self.assertIn("accuracy 0.8800, but 0.8803 of the checkpoint", result.detail)

    def test_mnist_fails_without_a_step_of_the_trace(self):
        result = self.mnist(0.88, 0.88, last_step=37)
        self.assertEqual(result.state, "failed")
        self.assertIn("lacks step 38, step 39", result.detail)

    def test_custom_loop_has_servers_and_an_accuracy(self):
        self.write_coordinator({"run": 0.91})
        self.assertEqual(tutorials.custom_loop("parameter_server")(self.runner).state, "passed")
        with open(f"{self.folder}/calls", encoding="utf-8") as file:
            self.assertIn("--set cluster={ps: 2, worker: 4} --set devices=1 ", file.read())
        self.write_coordinator({"run": 0.8})
        result = tutorials.custom_loop("mirrored")(self.runner)
        self.assertEqual(result.state, "failed")
        self.assertIn("accuracy 0.8000; expected at least 0.9", result.detail)

    def test_a_job_that_fails_fails_its_stage(self):
        self.write_coordinator({"run": 0.95}, code=3)
        for stage in tutorials.tutorial_stages():
            with self.subTest(stage.name):
                result = stage.run(self.runner)
                self.assertEqual(result.state, "failed")
                self.assertIn("exit code 3", result.detail)


if __name__ == "__main__":
    unittest.main()
