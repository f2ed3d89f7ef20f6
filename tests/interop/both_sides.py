"""Training in Keras and by the real programs: what the scripts that compare the two share."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import numpy as np

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")


def fashion_mnist(examples):
    with gzip.open(DATA / "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(16 + examples * 784)[16:], np.uint8)
    with gzip.open(DATA / "train-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(8 + examples)[8:], np.uint8)
    return images.reshape(-1, 28, 28, 1).astype(np.float32) / 255, labels.astype(np.int32)


class Recorder(keras.callbacks.Callback):
    """The loss of each batch; logs have the mean since the start of the epoch."""

    def __init__(self):
        super().__init__()
        self.losses = []
        self.total = 0.0

    def on_epoch_begin(self, epoch, logs=None):
        self.total = 0.0

    def on_train_batch_end(self, batch, logs=None):
        total = logs["loss"] * (batch + 1)
        self.losses.append(total - self.total)
        self.total = total


def run_job(binaries, folder, name, job):
    """Runs a job on the CPU, and gives the folder of what it leaves."""
    job = {"log_steps": True, "checkpoint": {"every_epochs": 1}, "device": "cpu", **job}
    (folder / f"{name}.json").write_text(json.dumps(job))
    output = folder / name
    shutil.rmtree(output, ignore_errors=True)
    command = [binaries / "coordinator", "run", folder / f"{name}.json", "--output", output]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{name}: {done.stderr}"
    return output


def columns(path):
    """Of a CSV file of numbers: an array for each column."""
    names, *rows = (line.split(",") for line in path.read_text().splitlines())
    return {name: np.array([float(row[i]) for row in rows]) for i, name in enumerate(names)}


def difference(ours, theirs):
    """‖ours − theirs‖ / ‖theirs‖ over all arrays together."""
    ours, theirs = (np.concatenate([np.ravel(x) for x in side]) for side in (ours, theirs))
    return np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)


def values(variables):
    return [np.asarray(variable, dtype=np.float64) for variable in variables]
