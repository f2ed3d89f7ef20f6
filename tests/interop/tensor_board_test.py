"""What jobs write for TensorBoard, beside what Keras' own callback writes.

    python3 tensor_board_test.py BINARIES

A job trains a Sequential under each strategy, and goes on by --resume. Keras' callback then writes
the same epochs, with the weights that the job has saved at the end of each, and TensorBoard reads
both: series and steps must be the same, and so must the histograms and images. The job also has images
of its first batch, and traces.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

# First, since it says on what TensorFlow runs.
from both_sides import fashion_mnist

import keras
import numpy as np
from keras import layers
from tensor_board_expected import picture, read_run
import tensor_board_workers

BATCH = 16
STEPS = 6
EPOCHS = 5
FREQUENCY = 2
EXAMPLES = {"train": BATCH * STEPS, "validation": 2 * BATCH}
ARGUMENTS = {"histogram_freq": FREQUENCY, "write_images": True, "write_steps_per_second": True,
             "update_freq": "batch"}
CLUSTERS = {
    "parameter_server": {"strategy": "parameter_server", "cluster": {"ps": 2, "worker": 2},
                         "partitioner": {"fixed": 2}},
    "mirrored": {"strategy": "mirrored", "cluster": {"worker": 1}, "devices": 2},
    "multi_worker_mirrored": {"strategy": "multi_worker_mirrored", "cluster": {"worker": 2}},
    "central_storage": {"strategy": "central_storage", "cluster": {"worker": 1}, "devices": 2},
}


# Workers, replicas of each, and what each trace has.
TRACES = {
    "parameter_server": (2, 1, {"calls to ps-0", "calls to ps-1", "Push", "wait for the parameter servers"}),
    "mirrored": (1, 2, {"all-reduce of replica 1", "all-reduce bucket 0", "update"}),
    "multi_worker_mirrored": (2, 1, {"all-reduce of replica 0", "all-reduce bucket 0", "update"}),
    "central_storage": (1, 2, {"data of replica 1", "sum bucket 0", "update"}),
}


def make_model():
    """Its kernels have one channel, three and more; one has no image."""
    keras.utils.clear_session(free_memory=False)
    inner = keras.Sequential([keras.Input((13, 13, 5)), layers.Conv2D(4, 3, name="four")], name="inner")
    model = keras.Sequential([
        keras.Input((28, 28, 1)),
        layers.Conv2D(5, 3, strides=2, name="one"),
        layers.BatchNormalization(momentum=0.9),
        inner,
        layers.Conv2D(6, 3),
        layers.GlobalAveragePooling2D(),
        layers.Dense(10, name="logits"),
    ], name="pictures")
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    return model


def source(folder, name):
    return {"npz": {"file": str(folder / f"{name}.npz"), "features": "x", "labels": "y"}}


def write_data(folder):
    images, labels = fashion_mnist(sum(EXAMPLES.values()))
    parts = {"train": slice(0, EXAMPLES["train"]), "validation": slice(EXAMPLES["train"], None)}
    for name, part in parts.items():
        np.savez(folder / f"{name}.npz", x=images[part], y=labels[part])


def run_job(binaries, folder, cluster, output):
    """One run ends after an odd number of epochs, and another goes on. Returns their seconds together."""
    job = {
        **cluster,
        "model": str(folder / "model.keras"),
        "data": {name: source(folder, name) for name in EXAMPLES},
        "global_batch_size": BATCH,
        "device": "cpu",
        "checkpoint": {"every_epochs": 10},
        "callbacks": [{"TensorBoard": {"log_dir": "board", **ARGUMENTS, **tensor_board_workers.ARGUMENTS}},
                      {"ModelCheckpoint": {"filepath": "models/{epoch}.weights.h5", "save_weights_only": True}}],
    }
    if cluster["strategy"] == "parameter_server":
        del job["global_batch_size"]
        job["batch_size_per_replica"] = BATCH
    path = output.with_suffix(".json")
    path.write_text(json.dumps(job))
    begin = time.monotonic()
    for epochs, more in ((FREQUENCY + 1, []), (EPOCHS, ["--resume"])):
        command = [binaries / "coordinator", "run", path, "--output", output, f"--set=epochs={epochs}", *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"
    return time.monotonic() - begin


class Loads(keras.callbacks.Callback):
    """At the end of an epoch the model gets the weights that the job had."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def on_epoch_end(self, epoch, logs=None):
        self.model.load_weights(self.folder / f"{epoch + 1}.weights.h5")


def run_keras(folder, model, models, logs):
    train, validation = (tuple(np.load(folder / f"{name}.npz").values()) for name in EXAMPLES)
    model.fit(*train, BATCH, EPOCHS, verbose=0, validation_data=validation,
              callbacks=[Loads(models), keras.callbacks.TensorBoard(logs, **ARGUMENTS)])


def steps_of(points):
    return [step for step, _ in points]


def last_of_each_step(points):
    """As the data server of TensorBoard shows them: a later file of a run replaces what an earlier one has."""
    return sorted(dict(points).items())


def check_histogram(tag, ours, theirs):
    np.testing.assert_array_equal(ours[:, 2], theirs[:, 2], err_msg=tag)
    np.testing.assert_allclose(ours[:, :2], theirs[:, :2], rtol=1e-12, atol=1e-14, err_msg=tag)


def check_speed(name, ours, seconds):
    """Epochs took no more than the runs, as their speed says, nor less than a thousandth of it."""
    scalars = ours["scalars"]
    rates = [float(rate) for _, rate in last_of_each_step(scalars["epoch_steps_per_second"])]
    assert seconds / 1000 < sum(STEPS / rate for rate in rates) < seconds, (name, rates, seconds)
    for step, rate in scalars["batch_steps_per_second"]:
        assert 1 / rate < seconds, (name, step, rate, seconds)


def check_run(name, ours, theirs):
    assert ours.keys() == theirs.keys(), (name, ours.keys(), theirs.keys())
    for plugin, series in theirs.items():
        assert ours[plugin].keys() == series.keys(), (name, plugin, ours[plugin].keys() ^ series.keys())
        for tag, points in series.items():
            made = last_of_each_step(ours[plugin][tag])
            if tag.startswith("batch_"):
                # Progress comes in groups of steps.
                assert made and set(steps_of(made)) <= set(steps_of(points)), (name, tag, made)
                continue
            assert steps_of(made) == steps_of(points), (name, tag, steps_of(made), steps_of(points))
            for (step, our), (_, their) in zip(made, points):
                if plugin == "histograms":
                    check_histogram(f"{name}: {tag} {step}", our, their)
                elif plugin == "images":
                    assert picture(our) == picture(their), (name, tag, step)


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        write_data(folder)
        make_model().save(folder / "model.keras")
        for name, cluster in CLUSTERS.items():
            output = folder / name
            begin = time.time()
            seconds = run_job(binaries, folder, cluster, output)
            check_speed(name, read_run(output / "board" / "train"), seconds)
            run_keras(folder, make_model(), output / "models", folder / f"{name}.keras")
            counts = {}
            for run in EXAMPLES:
                theirs = read_run(folder / f"{name}.keras" / run)
                ours = read_run(output / "board" / run)
                if run == "train":
                    images = np.load(folder / "train.npz")["x"]
                    tensor_board_workers.check_images(name, ours["images"], images)
                check_run(f"{name}/{run}", ours, theirs)
                counts[run] = {plugin: len(series) for plugin, series in sorted(theirs.items())}
            traces = tensor_board_workers.check_traces(
                name, output / "board", (begin, time.time()), *TRACES[name])
            print(f"{name}: as Keras writes them, {counts}; {traces} traces")


if __name__ == "__main__":
    main()
