"""Runs the tutorials' jobs of deploy/jobs at a small size, on Fashion-MNIST in their formats.

tutorial_jobs_test.py BIN SOURCE

The jobs are taken as they stand, but for sizes and paths, which --set changes.
"""

import csv
import glob
import gzip
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

import jpeg_writer

BIN, SOURCE = map(os.path.abspath, sys.argv[1:3])
DATA = "/usr/share/datasets/fashion-mnist"
TIMEOUT_S = 100
# The test set's 10,000 examples, to train on: a sixth of the training set.
SMALL = {"data.train.idx.features": DATA + "/t10k-images-idx3-ubyte.gz",
         "data.train.idx.labels": DATA + "/t10k-labels-idx1-ubyte.gz"}


def read_idx(name):
    """The bytes of an IDX file, without its header."""
    with gzip.open(f"{DATA}/{name}-ubyte.gz") as file:
        content = file.read()
    return content[4 + 4 * content[3]:]


def coordinator(*arguments, settings=None):
    """What the command prints."""
    command = [BIN + "/coordinator", *arguments]
    for path, value in (settings or {}).items():
        command += ["--set", f"{path}={value}"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                            env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"})
    if result.returncode != 0:
        raise AssertionError(f"{command}: {result.stdout}{result.stderr}")
    return result.stdout


def history(output):
    with open(output + "/history.csv", encoding="utf-8") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def evaluation_of(logits, labels):
    """The loss and the accuracy of predictions of labels."""
    loss, right = 0.0, 0
    for row, label in zip(logits, labels):
        most = max(row)
        loss += most + math.log(sum(math.exp(value - most) for value in row)) - row[label]
        right += row.index(most) == label
    return {"loss": loss / len(logits), "accuracy": right / len(logits)}


class TutorialJobsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_job(self, name, settings, output="out"):
        """Runs the job; returns its output folder, and what it printed."""
        output = f"{self.folder}/{output}"
        return output, coordinator("run", f"{SOURCE}/deploy/jobs/{name}.yaml", "--output", output,
                                   settings=settings)

    def evaluate(self, name, output, devices):
        return json.loads(coordinator(
            "evaluate", output + "/checkpoint", "--job", f"{SOURCE}/deploy/jobs/{name}.yaml", "-o", "json",
            "--output", f"{self.folder}/evaluated-{devices}", settings={"devices": devices}))

    def assert_same(self, evaluation, expected):
        self.assertEqual(sorted(evaluation), ["accuracy", "loss"])
        self.assertEqual(evaluation["accuracy"], expected["accuracy"])
        self.assertAlmostEqual(evaluation["loss"], expected["loss"], delta=1e-5)

    def checkpoints(self, output):
        return sorted(os.listdir(output + "/checkpoint"))

    def test_mnist_with_callbacks(self):
        rates = {0: 0.001, 1: 0.0001, 2: 0.00001}
        schedule = ", ".join(f"{epoch}: {rate:f}" for epoch, rate in rates.items())
        output, printed = self.run_job("mnist_callbacks", {
            **SMALL, "epochs": 3, "callbacks[2].LearningRateScheduler.schedule": "{" + schedule + "}"})
        rows = history(output)
        self.assertEqual(len(rows), 3)
        for epoch, row in enumerate(rows):
            self.assertAlmostEqual(row["learning_rate"], rates[epoch], delta=1e-3 * rates[epoch])
        told = re.findall(r"Learning rate of epoch (\d) \(from 0\): (\S+)", printed)
        self.assertEqual([int(epoch) for epoch, _ in told], [0, 1, 2])
        for epoch, rate in told:
            self.assertAlmostEqual(float(rate), rates[int(epoch)], delta=1e-3 * rates[int(epoch)])
        # The first epoch teaches much, the last, at its rate, hardly anything.
        self.assertGreater(rows[1]["accuracy"], rows[0]["accuracy"] + 0.05)
        self.assertLess(abs(rows[2]["accuracy"] - rows[1]["accuracy"]), 0.03)
        self.assertEqual(len(self.checkpoints(output)), 3)
        events = glob.glob(output + "/logs/train/events.out.tfevents.*")
        self.assertEqual(len(events), 1)
        with open(events[0], "rb") as file:
            content = file.read()
        for tag in [b"epoch_loss", b"epoch_accuracy", b"epoch_learning_rate"]:
            self.assertGreaterEqual(content.count(tag), 3)

        # The run ends with the metrics of the test set.
        told = re.search(r"^loss: (\S+) - accuracy: (\S+)$", printed, re.MULTILINE)
        latest = self.evaluate("mnist_callbacks", output, devices=1)
        self.assertAlmostEqual(float(told[1]), latest["loss"], delta=1e-4)
        self.assertGreater(latest["accuracy"], 0.78)
        self.assertLess(latest["accuracy"], 0.90)
        self.assert_same(self.evaluate("mnist_callbacks", output, devices=2), latest)

        # The saved model, loaded without a strategy,
        coordinator("predict", output + "/model.keras", "--job", SOURCE + "/deploy/jobs/mnist_callbacks.yaml",
                    "--output", self.folder + "/logits.csv")
        with open(self.folder + "/logits.csv", encoding="utf-8") as file:
            logits = [list(map(float, row)) for row in csv.reader(file)]
        self.assert_same(evaluation_of(logits, read_idx("t10k-labels-idx1")), latest)
        # and with one, by a step that changes nothing; and so the weights of the last epoch.
        for weights in ["model.keras", "ckpt_3.weights.h5"]:
            with_strategy, _ = self.run_job("mnist_callbacks", {
                **SMALL, "weights": f"{output}/{weights}", "epochs": 1, "steps_per_epoch": 1, "callbacks": "[]",
                "optimizer": "{SGD: {learning_rate: 0}}"}, output="loaded-" + weights)
            with open(with_strategy + "/result.json", encoding="utf-8") as file:
                self.assert_same(json.load(file)["evaluation"], latest)

    def test_custom_loop(self):
        output, _ = self.run_job("fashion_mnist_custom_loop", {**SMALL, "epochs": 4, "steps_per_epoch": 40})
        rows = history(output)
        # Every two epochs.
        self.assertEqual(self.checkpoints(output), [f"step-{40 * epoch:012}" for epoch in (2, 4)])
        self.assertLess(rows[3]["loss"], 0.6 * rows[0]["loss"])
        restored = self.evaluate("fashion_mnist_custom_loop", output, devices=1)
        self.assertGreater(restored["accuracy"], 0.79)
        self.assert_same(self.evaluate("fashion_mnist_custom_loop", output, devices=2), restored)
        with open(output + "/result.json", encoding="utf-8") as file:
            self.assert_same(json.load(file)["evaluation"], restored)

    def write_images(self, name, per_class, classes):
        """Folders of the first images of each class."""
        pixels, labels = read_idx(name + "-images-idx3"), read_idx(name + "-labels-idx1")
        for label in range(classes):
            folder = f"{self.folder}/{name}/{label}"
            os.makedirs(folder)
            examples = [example for example, each in enumerate(labels) if each == label][:per_class]
            for example in examples:
                image = pixels[784 * example:784 * (example + 1)]
                with open(f"{folder}/{example}.jpg", "wb") as file:
                    file.write(jpeg_writer.encode([image[28 * row:28 * (row + 1)] for row in range(28)]))

    def test_resnet_under_all_strategies(self):
        self.write_images("train", per_class=4, classes=2)
        self.write_images("t10k", per_class=2, classes=2)
        with open(SOURCE + "/deploy/jobs/resnet18_images.yaml", encoding="utf-8") as file:
            layers = file.read().split("  layers:\n")[1].split("\n\n")[0].splitlines()
        self.assertIn("Dense: {units: 1000,", layers[-1])
        small = {"data.train.images.folder": self.folder + "/train",
                 "data.validation.images.folder": self.folder + "/t10k",
                 f"model.layers[{len(layers) - 1}].Dense.units": 2,
                 "optimizer.SGD.learning_rate": 0.01, "epochs": 1, "global_batch_size": 4,
                 "checkpoint": "null"}
        strategies = {
            "parameter_server": {},
            "mirrored": {"strategy": "mirrored", "cluster": "null", "devices": 2},
            "central_storage": {"strategy": "central_storage", "cluster": "null", "devices": 2},
            "multi_worker_mirrored": {"strategy": "multi_worker_mirrored", "cluster": "{worker: 2}"},
        }
        losses = {}
        for name, settings in strategies.items():
            output, _ = self.run_job("resnet18_images", {**small, **settings}, output=name)
            rows = history(output)
            self.assertEqual(len(rows), 1)
            self.assertEqual(rows[0]["examples"], 8)
            self.assertTrue(0 <= rows[0]["val_accuracy"] <= 1)
            self.assertTrue(math.isfinite(rows[0]["val_loss"]))
            # Two classes, and a network that knows nothing yet.
            self.assertTrue(0.05 < rows[0]["loss"] < 5, rows[0])
            losses[name] = rows[0]["loss"]
        # The same steps, added up in another order.
        for name in ["central_storage", "multi_worker_mirrored"]:
            self.assertAlmostEqual(losses[name] / losses["mirrored"], 1, delta=1e-3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
