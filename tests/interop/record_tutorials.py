"""Runs the tutorials' jobs of deploy/jobs at a larger size than CI does, and writes a record.

    python3 record_tutorials.py BINARIES [--only NAME] [--record TUTORIALS.md]

The jobs are taken as they stand, but for the data, sizes and strategies that stand in the record.
MNIST's, cats-and-dogs' and ImageNet's own files cannot be had here. Fashion-MNIST takes their
place: as IDX files, as folders of JPEG files of two and of ten classes, and as what the base of
cats and dogs has learned before, from the other eight classes.
"""

import argparse
import inspect
import json
import os
import pathlib
import subprocess
import tempfile

# First, since it says on what TensorFlow runs.
from both_sides import columns, fashion_mnist
import cats_and_dogs_test

import tensorflow as tf

JOBS = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "jobs"
TIMEOUT_S = 3600

TWO_REPLICAS = {"cluster": "null", "devices": 2}
STRATEGIES = {
    "mirrored": {"strategy": "mirrored", **TWO_REPLICAS},
    "central_storage": {"strategy": "central_storage", **TWO_REPLICAS},
    "multi_worker_mirrored": {"strategy": "multi_worker_mirrored", "cluster": "{worker: 2}", "devices": 1},
    "parameter_server": {"strategy": "parameter_server", "cluster": "{ps: 2, worker: 4}", "devices": 1},
}
IN_STEP = {"parameter_server in step": {**STRATEGIES["parameter_server"], "consistency": "sync"}}


class Runner:
    """Runs jobs into a folder, and gives what they leave."""

    def __init__(self, binaries, folder):
        self._binaries = binaries
        self.folder = folder

    def coordinator(self, *arguments, settings=None):
        command = [self._binaries / "coordinator", *arguments,
                   *(f"--set={path}={value}" for path, value in (settings or {}).items())]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                              env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"})
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def job(self, name, output, settings):
        """The run's columns of history.csv, and its result.json."""
        output = self.folder / output
        self.coordinator("run", JOBS / f"{name}.yaml", "--output", output, settings=settings)
        return columns(output / "history.csv"), json.loads((output / "result.json").read_text())

    def evaluate(self, name, output, settings):
        return json.loads(self.coordinator("evaluate", self.folder / output / "checkpoint", "--job", JOBS / f"{name}.yaml",
                                           "-o", "json", "--output", self.folder / f"{output}-evaluated",
                                           settings=settings))


def row(*cells):
    return f"| {' | '.join(map(str, cells))} |"


def mnist(runner):
    """12 epochs of 60,000 images."""
    yield "The latest checkpoint is loaded, and evaluated by one and by two replicas."
    yield ""
    yield row("epochs", "examples/s", "accuracy", "of the checkpoint, 1 replica", "2 replicas")
    yield row(*5 * ["---"])
    history, result = runner.job("mnist_callbacks", "mnist", {})
    evaluated = [runner.evaluate("mnist_callbacks", "mnist", {"devices": devices})["accuracy"] for devices in (1, 2)]
    yield row(len(history["epoch"]), f"{result['timing']['examples_per_second']:.0f}",
              f"{result['evaluation']['accuracy']:.4f}", *(f"{accuracy:.4f}" for accuracy in evaluated))


def custom_loop(runner):
    """The custom loop's network, 10 epochs of 60,000 images; goal: an accuracy of at least 0.909.

    Asynchronous parameter servers with four workers miss it, whose gradients come late.
    """
    yield row("strategy", "examples/s", "accuracy", "restored without a strategy")
    yield row(*4 * ["---"])
    for strategy, settings in {**STRATEGIES, **IN_STEP}.items():
        _, result = runner.job("fashion_mnist_custom_loop", f"loop-{strategy}", {**settings, "epochs": 10})
        restored = runner.evaluate("fashion_mnist_custom_loop", f"loop-{strategy}", {"devices": 1})
        yield row(strategy, f"{result['timing']['examples_per_second']:.0f}",
                  f"{result['evaluation']['accuracy']:.4f}", f"{restored['accuracy']:.4f}")


def cats_and_dogs(runner):
    """MobileNetV2 of 160 x 160 whose base learned eight classes, on 2,000 images of the other two."""
    images, labels = fashion_mnist(10000)
    others = labels > 1
    cats_and_dogs_test.make_base(runner.folder / "base.keras", images[others][:1500], labels[others][:1500],
                                 size=160, alpha=1.0)
    cats_and_dogs_test.write_images(runner.folder / "PetImages", images, labels, size=160)
    settings = {"model.layers[2].Model.path": runner.folder / "base.keras",
                **{f"data.{part}.images.folder": runner.folder / "PetImages" for part in ("train", "validation")}}
    yield row("global batch", "what is trained", "epochs", "images/s", "accuracy of the fifth that is left out")
    yield row(*5 * ["---"])
    for batch in (64, 128, 256, 512):
        history, result = runner.job("cats_and_dogs", f"head-{batch}", {
            **settings, "global_batch_size": batch, "phases": "[{name: head, frozen: [base], epochs: 3}]"})
        yield row(batch, "head", 3, f"{result['timing']['examples_per_second']:.0f}", f"{history['val_accuracy'][-1]:.4f}")
    history, result = runner.job("cats_and_dogs", "cats", {
        **settings, "phases[0].epochs": 3, "phases[1].initial_epoch": 3, "phases[1].epochs": 5})
    yield row(64, "head, then all", "3 + 2", f"{result['timing']['examples_per_second']:.0f} (all)",
              f"{history['val_accuracy'][-1]:.4f}")


def resnet18(runner):
    """ResNet-18 of 224 x 224 on 2,000 images of ten classes, 2 epochs, 200 others for validation.

    The learning rate of parameter_server is a quarter of the others', since the gradients of four
    workers come late.
    """
    images, labels = fashion_mnist(2200)
    classes = {label: str(label) for label in range(10)}
    folders = {"train": runner.folder / "train", "validation": runner.folder / "validation"}
    for part, chosen in zip(folders, (slice(0, 2000), slice(2000, 2200))):
        cats_and_dogs_test.write_images(folders[part], images[chosen], labels[chosen], size=256, classes=classes)
    text = (JOBS / "resnet18_images.yaml").read_text()
    layers = text.split("  layers:\n")[1].split("\n\n")[0].splitlines()
    settings = {**{f"data.{part}.images.folder": folder for part, folder in folders.items()},
                f"model.layers[{len(layers) - 1}].Dense.units": 10, "epochs": 2, "checkpoint": "null",
                "optimizer.SGD.learning_rate": 0.02}
    rates = {"parameter_server": {"optimizer.SGD.learning_rate": 0.005}}
    yield row("strategy", "images/s", "loss of each epoch", "validation: loss", "accuracy")
    yield row(*5 * ["---"])
    for strategy, more in STRATEGIES.items():
        history, result = runner.job("resnet18_images", f"resnet-{strategy}",
                                     {**settings, **rates.get(strategy, {}), **more})
        yield row(strategy, f"{result['timing']['examples_per_second']:.1f}",
                  ", ".join(f"{loss:.3f}" for loss in history["loss"]),
                  f"{history['val_loss'][-1]:.3f}", f"{history['val_accuracy'][-1]:.3f}")


TUTORIALS = {"mnist_callbacks": mnist, "fashion_mnist_custom_loop": custom_loop, "cats_and_dogs": cats_and_dogs,
             "resnet18_images": resnet18}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("--only", choices=TUTORIALS)
    parser.add_argument("--record", type=pathlib.Path)
    arguments = parser.parse_args()
    lines = ["# The tutorials' jobs at a larger size", "",
             "`tests/interop/record_tutorials.py build/release/bin --record tests/interop/TUTORIALS.md` wrote this, with",
             f"tensorflow {tf.__version__}, on {os.cpu_count()} cores. What it runs stands at its head; speeds are of a machine that",
             "may have had other work, too. parameter_server has 2 ps and 4 workers, the other strategies two replicas."]
    for name, tutorial in TUTORIALS.items():
        if arguments.only not in (None, name):
            continue
        lines += ["", f"## {name}.yaml", "", inspect.cleandoc(tutorial.__doc__), ""]
        with tempfile.TemporaryDirectory() as folder:
            for line in tutorial(Runner(arguments.binaries.resolve(), pathlib.Path(folder))):
                print(line, flush=True)
                lines.append(line)
        if arguments.record:
            arguments.record.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
